"""Probing in the tests' own process, where there is no need to survive what the function does."""

import functools
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from attnspec.crumb import Crumb
from attnspec.loading import load
from attnspec.probing.adapter import Adapter
from attnspec.probing.finding import KEYWORD, Finding
from attnspec.probing.investigate import steps
from attnspec.probing.lab import Lab
from attnspec.probing.request import Request
from attnspec.probing.subject import subject
from attnspec.specs.contract import CONVENTIONS
from attnspec.watch import Watch


class Probed(NamedTuple):
    adapter: Adapter
    findings: dict[str, Finding]

    @property
    def conventions(self) -> dict[str, Any]:
        """Those that were told, not those that were not asked."""
        return {name: self.findings[name].value for name in CONVENTIONS if self.findings[name].value is not None}

    @property
    def keywords(self) -> set[str]:
        return {name.removeprefix(KEYWORD) for name in self.findings if name.startswith(KEYWORD)}


class NoCrumb(Crumb):
    def __init__(self) -> None:
        self.count = 0

    def write(self, note: object) -> None:
        self.count += 1


@functools.cache
def probed(target: str, arrays: tuple[str, ...] = ()) -> Probed:
    lab = Lab(Watch(NoCrumb(), {}, surveying=True))
    made = list(steps(lab, Request(target, arrays), Adapter(subject(target))))
    return Probed(made[-1][0], {finding.name: finding for _, finding in made})


CONTROLS = {path.stem: path for path in sorted((Path(__file__).parent / "controls").glob("[!_]*.py"))}

LENIENT = {"value_range"}
"""What is granted, not chosen: a function that declares the lenient value may still do better on this machine."""


def declared(target):
    return load(target).declaration


def agree(name, said, told):
    return said == told or (name in LENIENT and told == CONVENTIONS[name][0])


def timed(cases):
    """The cases, those that JAX has to compile marked as slow."""
    return [pytest.param(*case, marks=[pytest.mark.slow] * case[0].startswith(("jax", "flax"))) for case in cases]
