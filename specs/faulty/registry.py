"""What a fault is, and the list that the modules beside this one fill."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from attnspec.specs.oracle import Conventions, Solution
from attnspec.specs.problem import Problem

Change = Callable[[Problem, Conventions], Problem | Conventions | None]
Answer = Callable[[Problem, Conventions], Solution | None]


class Fault(NamedTuple):
    """What goes wrong in one sentence, the ids of public reports, and the answer; None where it has no effect."""

    says: str
    reports: tuple[str, ...]
    answer: Answer


FAULTS: dict[str, Fault] = {}
"""Every fault by name."""


def fault(name: str, says: str, *reports: str) -> Callable[[Any], Any]:
    """List a class that does one step of the oracle otherwise, or a function that changes problem or conventions."""

    def add(made: Any) -> Any:
        FAULTS[name] = Fault(says, reports, made if isinstance(made, type) else _changing(made))
        return made

    return add


def _changing(change: Change) -> Answer:
    def answer(problem: Problem, conventions: Conventions) -> Solution | None:
        changed = change(problem, conventions)
        if isinstance(changed, Problem):
            return Solution(changed, conventions)
        return None if changed is None else Solution(problem, {**conventions, **changed})

    return answer


def finite(problem: Problem) -> Problem:
    """The problem with 0 for NaN and infinities among its inputs."""
    inputs = {name: getattr(problem, name) for name in ("query", "key", "value")}
    if all(np.isfinite(array).all() for array in inputs.values()):
        return problem
    return problem.replace(**{n: np.where(np.isfinite(a), a, a.dtype.type(0)) for n, a in inputs.items()})


def first(problem: Problem, option: str, axis: int) -> Problem | None:
    """The problem in which the first place on an axis of an option serves all."""
    array = problem.options.get(option)
    if array is None or array.ndim < -axis or array.shape[axis] == 1 or array.size == 0:
        return None
    return problem.with_options(**{option: np.repeat(np.take(array, [0], axis), array.shape[axis], axis)})
