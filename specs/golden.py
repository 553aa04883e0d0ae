"""Golden vectors: small problems with their answers, as JSON that any language reads.

``vectors/attention.json`` holds the cases and ``vectors/schema.json`` says what each field means. The answers come from
the definition in 50 digits, or by hand from textbooks; no implementation of attention made them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.compare import worst
from attnspec.specs.problem import Array, Problem, decode_array, read_problem

FILES = ("attention.json", "schema.json")

PASSED, FAILED, NOT_CLAIMED = "passed", "failed", "not claimed"


class Verdict(NamedTuple):
    """passed, failed or not claimed, and why."""

    status: str
    detail: str = ""


@dataclass(frozen=True, eq=False)
class Case:
    """One vector; ``expected`` and ``tolerance`` hold the output, and the weights and log-sum-exp if asked for."""

    name: str
    comment: str
    catches: tuple[str, ...]
    """Ids of public reports, as in ``attnspec.specs.reports``."""
    effect: str
    """What goes wrong where one of those faults is present, in one sentence."""
    conventions: Mapping[str, Any]
    """The choices under which it holds; all others are free."""
    problem: Problem
    expected: Mapping[str, Array]
    tolerance: Mapping[str, Array]

    def holds_for(self, conventions: Mapping[str, Any]) -> bool:
        """Whether an implementation with these conventions must give the expected answer."""
        single = self.problem.dtype == "float64" and conventions["intermediate_dtype"] == "at-most-float32"
        return not single and all(conventions[name] == value for name, value in self.conventions.items())


def load() -> tuple[Case, ...]:
    """All cases, in the order of the file."""
    return tuple(_case(data) for data in json.loads(_text("attention.json"))["cases"])


def _text(name: str) -> str:
    return files(__package__).joinpath("vectors", name).read_text("utf-8")


def _case(data: Mapping[str, Any]) -> Case:
    return Case(
        data["name"],
        data["comment"],
        tuple(data["catches"]),
        data["effect"],
        data["conventions"],
        read_problem({name: data[name] for name in ("query", "key", "value", "options")}),
        {part: decode_array(array, part) for part, array in data["expected"].items()},
        {part: decode_array(array, part) for part, array in data["tolerance"].items()},
    )


def write(directory: Path) -> None:
    """Copy the vectors and their schema to a folder, which is made if need be."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (directory / name).write_text(_text(name), "utf-8")


def run(backend: Backend) -> list[tuple[Case, Verdict]]:
    """Every case with what the backend makes of it."""
    return [(case, _verdict(backend, case)) for case in load()]


def _verdict(backend: Backend, case: Case) -> Verdict:
    extras = {f"return_{part}": part for part in ("weights", "lse")}
    lacking = {option: None for option in extras if option not in backend.options}
    problem = case.problem.with_options(**lacking)
    if not backend.supports(problem.features):
        return Verdict(NOT_CLAIMED, f"asks for {', '.join(sorted(problem.features))}")
    if not case.holds_for(backend.conventions):
        return Verdict(NOT_CLAIMED, f"holds under {dict(case.conventions) or 'intermediates of full precision'}")
    try:
        result = backend.solve(problem)
        for part in case.expected.keys() - {extras[option] for option in lacking}:
            difference = worst(getattr(result, part), case.expected[part], case.tolerance[part])
            if difference is not None and difference.ratio > 1:
                return Verdict(FAILED, f"{part} {difference}")
    except (BackendError, ValueError) as error:
        return Verdict(FAILED, str(error))
    return Verdict(PASSED)
