"""Probing in the tests' own process, where there is no need to survive what the function does."""

import functools
from pathlib import Path
from typing import Any, NamedTuple

from attnspec.crumb import Crumb
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
