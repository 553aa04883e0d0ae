"""Holding a backend to the catalogue: one outcome an invariant, each failure at its smallest problem.

The way of the data: a recipe is drawn, cooked into a problem, given to the backend, held to an invariant; what comes
out is an Outcome. First the survey (what is claimed works, what is lacking raises), then the conventions (they are as
declared), then everything else under the conventions that were observed, so that one wrong line is told once.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.catalogue import Inapplicable, Invariant, Violation, catalogue
from attnspec.specs.plan import plan, with_values
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import Recipe
from attnspec.specs.simplify import simplest
from attnspec.specs.values import DISTRIBUTIONS

PASSED, FAILED, KNOWN, NOT_CLAIMED, NEVER_RAN = "passed", "failed", "known issue", "not claimed", "never ran"


@dataclass(frozen=True)
class Profile:
    """How much a run does: problems drawn beyond the plan for each invariant, and plan rows that are resized."""

    name: str
    drawn: int
    resized: int
    planned: int | None = None
    """How many rows of the plan; None is all."""
    derandomize: bool = True


PROFILES = {
    "quick": Profile("quick", drawn=0, resized=4, planned=16),
    "default": Profile("default", drawn=12, resized=8),
    "thorough": Profile("thorough", drawn=400, resized=64),
}


@dataclass(frozen=True)
class Failure:
    """What is shown of a violation: the smallest problem as JSON, and what was wanted and came."""

    message: str
    case: str
    problem: Problem
    lack: str | None = None
    """The LACKS entry that would disclaim it, if the backend raised."""


@dataclass(frozen=True)
class Outcome:
    """One invariant's verdict on one backend."""

    invariant: str
    status: str
    problems: int = 0
    seconds: float = 0.0
    worst: dict[str, float] = field(default_factory=dict)
    """The largest error ÷ bound seen, for each dtype."""
    failure: Failure | None = None
    reason: str = ""


def fault(invariant: Invariant, backend: Backend, problem: Problem) -> str | None:
    """What is wrong with the backend on this problem, or None. Inapplicable if the invariant says nothing on it."""
    try:
        invariant.check(backend, problem)
    except (Violation, BackendError) as error:
        return str(error)
    return None


def recipes(invariant: Invariant, backend: Backend, profile: Profile) -> Iterator[Recipe]:
    """The rows of the plan that the invariant is about, then Hypothesis's own draws over the same shapes."""
    rows = [row for row in plan_of(backend)[: profile.planned] if invariant.takes(backend, row.problem().features)]
    rows = rows or [row for row in plan_of(backend) if invariant.takes(backend, row.problem().features)]
    if invariant.resizes:
        rows = rows[: profile.resized]
    yield from rows
    if rows and profile.drawn:
        yield from _drawn(rows, profile)


def _drawn(rows: list[Recipe], profile: Profile) -> list[Recipe]:
    drawn: list[Recipe] = []
    strategy = st.builds(with_values, st.sampled_from(rows), st.sampled_from(list(DISTRIBUTIONS)), st.integers(0, 999))

    @settings(
        max_examples=profile.drawn,
        derandomize=profile.derandomize,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(recipe: Recipe) -> None:
        drawn.append(recipe)

    collect()
    return drawn


def plan_of(backend: Backend) -> tuple[Recipe, ...]:
    """The backend's plan, made once for each set of lacks."""
    key = ("plan", backend.declaration.lacks)
    if key not in backend.memo:
        backend.memo[key] = plan(backend)
    rows: tuple[Recipe, ...] = backend.memo[key]
    return rows


def examine(invariant: Invariant, backend: Backend, profile: Profile, shrink: bool = True) -> Outcome:
    """Hold the backend to one invariant."""
    if not invariant.concerns(backend):
        return Outcome(invariant.id, NOT_CLAIMED)
    start, count, worst = time.perf_counter(), 0, dict[str, float]()
    for recipe in recipes(invariant, backend, profile):
        problem = recipe.problem()
        try:
            ratio = invariant.check(backend, problem)
        except Inapplicable:
            continue
        except (Violation, BackendError):
            failure = _failure(invariant, backend, recipe, shrink)
            return Outcome(invariant.id, FAILED, count + 1, time.perf_counter() - start, worst, failure)
        count += 1
        worst[problem.dtype] = max(worst.get(problem.dtype, 0.0), ratio)
    status = PASSED if count else NEVER_RAN
    return Outcome(invariant.id, status, count, time.perf_counter() - start, worst)


def _failure(invariant: Invariant, backend: Backend, recipe: Recipe, shrink: bool) -> Failure:
    def fails(candidate: Recipe) -> bool:
        problem = candidate.problem()
        if not invariant.takes(backend, problem.features):
            return False
        try:
            return fault(invariant, backend, problem) is not None
        except Inapplicable:
            return False

    smallest = simplest(recipe, fails) if shrink else recipe
    return failure_at(invariant, backend, smallest.problem(), smallest.to_json())


def failure_at(invariant: Invariant, backend: Backend, problem: Problem, case: str) -> Failure:
    """The failure of ``invariant`` on ``problem``, looked at again."""
    try:
        invariant.check(backend, problem)
    except Violation as error:
        return Failure(str(error), case, problem)
    except BackendError as error:
        lack = "+".join(sorted(error.features))
        return Failure(f"{error}; asked for {lack}", case, problem, lack)
    return Failure("failed once and held when looked at again: the result depends on what went before", case, problem)


def chosen(patterns: Iterable[str]) -> list[Invariant]:
    """The invariants whose ids match any of the shell-style patterns, all if there are none.

    ValueError for a pattern that matches nothing.
    """
    wanted = list(patterns)
    for pattern in wanted:
        if not any(matches(pattern, id) for id in catalogue()):
            raise ValueError(f"invariant: wanted the id of one, such as {next(iter(catalogue()))}, came {pattern!r}")
    return [i for i in catalogue().values() if not wanted or any(matches(p, i.id) for p in wanted)]


def matches(pattern: str, id: str) -> bool:
    """Whether a pattern such as "softmax.*" or a family's name covers an id."""
    return fnmatchcase(id, pattern) or id.split(".")[0] == pattern


def largest(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """The largest error ÷ bound for each dtype over all outcomes."""
    worst: dict[str, float] = {}
    for outcome in outcomes:
        for dtype, ratio in outcome.worst.items():
            worst[dtype] = float(np.maximum(worst.get(dtype, 0.0), ratio))
    return worst
