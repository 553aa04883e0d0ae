"""Golden vectors: small problems with their answers, as JSON that any language reads.

``vectors/attention.json`` holds cases written by hand, ``vectors/options.json`` drawn ones over all options, and
``vectors/schema.json`` says what each field means. The answers come from the definition in 50 digits, confirmed by the
oracle, or by hand from textbooks; no implementation of attention made them.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.bound import UNIT_ROUNDOFF
from attnspec.specs.catalogue import catalogue
from attnspec.specs.compare import ratios, worst
from attnspec.specs.contract import nearest
from attnspec.specs.faults import faulty
from attnspec.specs.faulty import FAULTS
from attnspec.specs.outcome import FAILED, KNOWN, NOT_CLAIMED, PASSED, Failure, Outcome
from attnspec.specs.problem import Array, Problem, decode_array, read_problem

CASES = ("attention.json", "options.json")
"""Files of cases: written by hand, and drawn."""

FILES = (*CASES, "schema.json")


@dataclass(frozen=True, eq=False)
class Case:
    """One vector; ``expected`` and ``tolerance`` hold the output, and the weights and log-sum-exp if asked for."""

    name: str
    comment: str
    catches: tuple[str, ...]
    """Ids of public reports, as in ``attnspec.specs.reports``."""
    effect: str
    """What goes wrong where one of those faults is present, in one sentence."""
    flags: Mapping[str, str]
    """Faults, as in ``attnspec.specs.faults``, that it tells from the right answer, and the effect of each."""
    conventions: Mapping[str, Any]
    """The choices under which it holds; all others are free."""
    problem: Problem
    expected: Mapping[str, Array]
    tolerance: Mapping[str, Array]

    def holds_for(self, conventions: Mapping[str, Any]) -> bool:
        """Whether an implementation with these conventions must give the expected answer."""
        single = self.problem.dtype == "float64" and conventions["intermediate_dtype"] == "at-most-float32"
        return not single and all(conventions[name] == value for name, value in self.conventions.items())

    def asked_of(self, backend: Backend) -> Problem:
        """The problem without those parts of the answer that the backend does not give."""
        return self.problem.with_options(**{f"return_{part}": None for part in self.unanswered(backend)})

    def unanswered(self, backend: Backend) -> set[str]:
        """Of weights and lse, what the backend does not give."""
        return {part for part in ("weights", "lse") if f"return_{part}" not in backend.options}


@cache
def cases() -> dict[str, Case]:
    """All cases by name, in the order of the files."""
    return {data["name"]: _case(data) for name in CASES for data in json.loads(_text(name))["cases"]}


def _text(name: str) -> str:
    return files(__package__).joinpath("vectors", name).read_text("utf-8")


def _case(data: Mapping[str, Any]) -> Case:
    return Case(
        data["name"],
        data["comment"],
        tuple(data["catches"]),
        data["effect"],
        data["flags"],
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


def chosen(patterns: Iterable[str] = ()) -> list[Case]:
    """The cases whose names match any of the shell-style patterns, all if there are none.

    ValueError for a pattern that matches nothing.
    """
    wanted = list(patterns)
    for pattern in wanted:
        if not any(fnmatchcase(name, pattern) for name in cases()):
            hint = nearest(pattern, cases(), f", such as {next(iter(cases()))}")
            raise ValueError(f"vectors: wanted the name of one, came {pattern!r}{hint}")
    return [case for name, case in cases().items() if not wanted or any(fnmatchcase(name, p) for p in wanted)]


def run(backend: Backend, patterns: Iterable[str] = ()) -> Iterator[Outcome]:
    """Hold the backend to the cases that the patterns choose, all without them."""
    yield from (hold(backend, case) for case in chosen(patterns))


@np.errstate(all="ignore")
def hold(backend: Backend, case: Case) -> Outcome:
    """Hold the backend to one case: is it claimed, then call, then compare each part within its tolerance."""
    problem = case.asked_of(backend)
    if not backend.supports(problem.features):
        return Outcome(case.name, NOT_CLAIMED, reason=f"asks for {', '.join(sorted(problem.features))}")
    if not case.holds_for(backend.conventions):
        under = dict(case.conventions) or "intermediates of full precision"
        return Outcome(case.name, NOT_CLAIMED, reason=f"holds under {under}")
    start, message, reason, largest = time.perf_counter(), "", "", 0.0
    try:
        result = backend.solve(problem)
        came = {part: getattr(result, part) for part in case.expected.keys() - case.unanswered(backend)}
        for part in sorted(came, key=list(case.expected).index):
            difference = worst(came[part], case.expected[part], case.tolerance[part])
            largest = max(largest, difference.ratio if difference else 0.0)
            if difference is not None and difference.ratio > 1 and not message:
                message = f"{part} {difference}"
        reason = suspicion(backend, case, came) if message else ""
    except (BackendError, ValueError) as error:
        message = str(error)
    seconds = time.perf_counter() - start
    if not message:
        return Outcome(case.name, PASSED, 1, seconds, {problem.dtype: largest})
    known = known_issue(backend, case)
    failure = Failure(message, problem)
    return Outcome(case.name, KNOWN if known else FAILED, 1, seconds, failure=failure, reason=known or reason)


def suspicion(backend: Backend, case: Case, came: Mapping[str, Array]) -> str:
    """The published faults that give just what came, in words; else those that the case is known to tell."""
    unit, suspects = 8 * UNIT_ROUNDOFF[case.problem.dtype], []
    for name in case.flags:
        answer = faulty(name, case.problem, backend.conventions) or {}
        granted = {
            part: case.tolerance[part].max(initial=0.0) + unit * np.abs(np.nan_to_num(array, posinf=0, neginf=0))
            for part, array in answer.items()
        }
        if answer and all((ratios(came[part], answer[part], granted[part]) <= 1).all() for part in came):
            suspects.append(name)
    if suspects:
        told = (f"{FAULTS[name].says} ({', '.join((name, *FAULTS[name].reports))})" for name in suspects[:2])
        return f"just as where {', or '.join(told)}"
    names = list(case.flags)
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return f"tells {', '.join(names[:6])}{more}; none of them gives just this"


def known_issue(backend: Backend, case: Case) -> str:
    """The reason of a declared known issue that covers the case: by its features, or by a report it catches."""
    declaration, features = backend.declaration, case.asked_of(backend).features | {backend.device}
    for faulted, reason in declaration.known_faults.items():
        if faulted <= features:
            return reason
    for id, reason in declaration.known_issues.items():
        if id in catalogue() and set(catalogue()[id].catches) & set(case.catches):
            return reason
    return ""
