"""Holding a backend to one invariant, and a failure to its smallest problem."""

import itertools
import time

import numpy as np

from attnspec.specs.backend import Backend, BackendError, Malformed
from attnspec.specs.cases import Bare, Profile, bare, cases, costs
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
    enough = 3 * profile.costly if costs(invariant, backend) else None
    for case in itertools.chain(cases(invariant, backend, profile), bare(invariant, backend, profile)):
        if count == enough or (count and isinstance(case, Bare)):
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
    if isinstance(case, Recipe):
        smallest = simplest(case, lambda recipe: fails(invariant, backend, recipe.problem())) if shrink else case
        problem, text = smallest.problem(), smallest.to_json()
    else:
        problem, text = case, case.to_json()
    try:
        invariant.check(backend, problem)
    except (Violation, BackendError) as error:
        return told(error, problem, text)
    return Failure("failed once and held when looked at again: the result depends on what went before", text, problem)


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


def told(error: Violation | BackendError, problem: Problem, case: str) -> Failure:
    """The failure that an error makes of a problem, with the declaration that would make it none."""
    if isinstance(error, BackendError) and not isinstance(error, Malformed):
        lack = "+".join(sorted(error.features))
        return Failure(f"{error}; asked for {lack}", case, problem, (lack,))
    conventions = {error.name: error.value} if isinstance(error, Contradiction) else {}
    return Failure(str(error), case, problem, conventions=conventions)
