"""Holding a backend to one invariant, and a failure to its smallest problem."""

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from attnspec.specs.backend import Backend, BackendError, Malformed
from attnspec.specs.cases import Profile, bare, cases, costs
from attnspec.specs.catalogue import Inapplicable, Invariant, Violation, Waived
from attnspec.specs.conventions import Contradiction
from attnspec.specs.durations import lap
from attnspec.specs.outcome import FAILED, NEVER_RAN, NOT_CLAIMED, PASSED, Failure, Outcome
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import Recipe
from attnspec.specs.simplify import simplest


@np.errstate(all="ignore")
def examine(invariant: Invariant, backend: Backend, profile: Profile, shrink: bool = True) -> Outcome:
    """Hold the backend to one invariant."""
    if not invariant.concerns(backend):
        return Outcome(invariant.id, NOT_CLAIMED)
    start, count, worst = time.perf_counter(), 0, dict[str, float]()
    waived = False
    enough = 3 * profile.costly if profile.spread and costs(invariant, backend) else None

    def tried() -> Iterator[Recipe | Problem]:
        yield from cases(invariant, backend, profile)
        if not count:
            yield from itertools.takewhile(lambda _: not count, bare(invariant, backend, profile))

    for case in tried():
        if count == enough:
            break
        problem = case if isinstance(case, Problem) else case.problem()
        try:
            ratio = invariant.check(backend, problem)
        except Inapplicable as reason:
            waived = waived or isinstance(reason, Waived)
            continue
        except (Violation, BackendError):
            failure = _failure(invariant, backend, case, shrink)
            return Outcome(invariant.id, FAILED, count + 1, time.perf_counter() - start, worst, failure, parts=lap())
        count += 1
        worst[problem.dtype] = max(worst.get(problem.dtype, 0.0), ratio)
    status = PASSED if count else NOT_CLAIMED if waived or invariant.family == "convention" else NEVER_RAN
    return Outcome(invariant.id, status, count, time.perf_counter() - start, worst, parts=lap())


def _failure(invariant: Invariant, backend: Backend, case: Recipe | Problem, shrink: bool) -> Failure:
    """The failure at the smallest problem, looked at again."""
    if isinstance(case, Recipe) and shrink:
        case = simplest(case, lambda recipe: fails(invariant, backend, recipe.problem()))
    problem = case.problem() if isinstance(case, Recipe) else case
    try:
        invariant.check(backend, problem)
    except (Violation, BackendError) as error:
        failure = told(error, problem)
        return replace(failure, message=failure.message + _only_with(problem)) if shrink else failure
    except Inapplicable:  # it applied a moment ago
        pass
    return Failure("failed once and held when looked at again: the result depends on what went before", problem)


KINDS = ("gqa", "rank2", "rank3", "zero_size", "long_rows")
"""Kinds of shapes that a smallest problem keeps only if the failure needs them."""


def _only_with(problem: Problem) -> str:
    """A second line: what the failure needs, and how a function says that it is not made for that."""
    needed = ", ".join(kind for kind in KINDS if kind in problem.features)
    return (
        f"\nseen only with {needed}: a function that is not made for that raises there and declares it in LACKS"
        * bool(needed)
    )


def fails(invariant: Invariant, backend: Backend, problem: Problem) -> bool:
    """Whether the invariant is violated on this problem, which may also be none for it."""
    if not invariant.takes(backend, problem.features):
        return False
    try:
        invariant.check(backend, problem)
    except (Violation, BackendError):
        return True
    except Inapplicable:
        pass
    return False


def told(error: Violation | BackendError, problem: Problem) -> Failure:
    """The failure that an error makes of a problem, with the declaration that would make it none."""
    if isinstance(error, BackendError) and not isinstance(error, Malformed):
        lack = "+".join(sorted(error.features))
        return Failure(f"{error}; asked for {lack}", problem, (lack,))
    conventions = {error.name: error.value} if isinstance(error, Contradiction) else {}
    return Failure(str(error), problem, conventions=conventions, malformed=isinstance(error, Malformed))
