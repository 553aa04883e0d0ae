"""Holding a backend to the catalogue: one outcome an invariant, each failure at its smallest problem.

The way of the data: a recipe is drawn, cooked into a problem, given to the backend, held to an invariant; what comes
out is an Outcome. First the survey (what is claimed works, what is lacking raises), then the conventions (they are as
declared), then everything else under the conventions that were observed, so that one wrong line is told once.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.cases import Profile
from attnspec.specs.catalogue import FIRST, Inapplicable, Invariant, Violation, catalogue
from attnspec.specs.examine import examine, told
from attnspec.specs.foundations import check_issues, surveyed
from attnspec.specs.outcome import FAILED, KNOWN, NEVER_RAN, NOT_CLAIMED, PASSED, Outcome
from attnspec.specs.problem import Problem
from attnspec.specs.proof import kernels_ran


def verify(backend: Backend, profile: Profile, patterns: Iterable[str] = (), shrink: bool = True) -> Iterator[Outcome]:
    """Hold the backend to all invariants that the patterns choose, in the catalogue's order.

    The survey and the conventions come first whatever is chosen: the rest goes by what they find.
    ValueError for a pattern or a known issue that matches no invariant, and where the declared KERNEL did not run.
    """
    wanted = {invariant.id: invariant for invariant in chosen(patterns)}
    for outcome, seen in foundations(backend, profile, shrink):
        backend = seen
        if outcome.invariant in wanted:
            yield outcome
        if outcome.failure and outcome.invariant == "contract.claims" and not outcome.failure.lacks:
            return
    issues = backend.declaration.known_issues
    for invariant in wanted.values():
        if invariant.family not in FIRST:
            yield strict(issues, examine(invariant, backend, profile, shrink), profile.lenient)


def foundations(backend: Backend, profile: Profile, shrink: bool = True) -> Iterator[tuple[Outcome, Backend]]:
    """Outcomes of the contract and of the conventions, each with the backend as it has shown itself by then."""
    check_issues(backend)
    kernels_ran(backend)
    issues = backend.declaration.known_issues
    backend, outcomes = surveyed(backend, profile.partial)
    for outcome in outcomes:
        yield strict(issues, outcome, profile.lenient), backend
    for invariant in (invariant for invariant in catalogue().values() if invariant.family == "convention"):
        outcome = examine(invariant, backend, profile, shrink)
        if outcome.failure:
            backend = backend.assuming(conventions={**backend.conventions, **outcome.failure.conventions})
        yield strict(issues, outcome, profile.lenient), backend


def expected(patterns: Iterable[str] = ()) -> list[str]:
    """The ids that ``verify`` gives outcomes for, in order."""
    return [invariant.id for invariant in chosen(patterns)]


def strict(issues: Mapping[str, str], outcome: Outcome, lenient: bool = False) -> Outcome:
    """The outcome in the light of the declared known issues: a failure is known, and a pass an error.

    lenient: a pass is none, for the problems were too few to count on a failure.
    """
    reason = issues.get(outcome.invariant)
    if reason is None:
        return outcome
    if outcome.status == FAILED:
        return replace(outcome, status=KNOWN, reason=reason)
    if lenient:
        return replace(outcome, reason=f"a known issue that so few problems did not show: {reason}")
    found = {PASSED: "it holds", NEVER_RAN: "it never ran"}.get(outcome.status, "it is not claimed")
    return replace(outcome, status=FAILED, reason=f"declared a known issue, but {found}: {reason}")


@np.errstate(all="ignore")
def replay(backend: Backend, id: str, problem: Problem) -> Outcome:
    """One invariant on one problem. ValueError if there is no such invariant."""
    if id not in catalogue():
        raise ValueError(f"invariant: wanted the id of one, such as {next(iter(catalogue()))}, came {id!r}")
    if not backend.supports(problem.features):
        asked = ", ".join(sorted(problem.features))
        return Outcome(id, NOT_CLAIMED, reason=f"the problem asks for more than the backend claims: {asked}")
    start = time.perf_counter()
    try:
        ratio = catalogue()[id].check(backend, problem)
    except Inapplicable:
        return Outcome(id, NEVER_RAN, reason="the invariant says nothing about this problem")
    except (Violation, BackendError) as error:
        failure = told(error, problem)
        return strict(
            backend.declaration.known_issues, Outcome(id, FAILED, 1, time.perf_counter() - start, failure=failure)
        )
    return Outcome(id, PASSED, 1, time.perf_counter() - start, {problem.dtype: ratio})


def chosen(patterns: Iterable[str]) -> list[Invariant]:
    """The invariants whose ids match any of the shell-style patterns, all if there are none.

    ValueError for a pattern that matches nothing.
    """
    wanted = list(patterns)
    for pattern in wanted:
        if not any(matches(pattern, id) for id in catalogue()):
            raise ValueError(f"invariant: wanted the id of one, such as {next(iter(catalogue()))}, came {pattern!r}")
    return [catalogue()[id] for id in matching(wanted, catalogue())]


def matching(patterns: Collection[str], ids: Iterable[str]) -> list[str]:
    """Those of the ids that any of the patterns covers, all if there are none."""
    return [id for id in ids if not patterns or any(matches(pattern, id) for pattern in patterns)]


def matches(pattern: str, id: str) -> bool:
    """Whether a pattern such as "softmax.*" or a family's name covers an id."""
    return fnmatchcase(id, pattern) or id.split(".")[0] == pattern
