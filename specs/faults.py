"""Faults that attention is published with, each as the answer that it gives, for golden vectors to tell.

A fault is the oracle on another problem, under other conventions, or with one step of the definition done otherwise.
"""

from collections.abc import Mapping

import numpy as np

from attnspec.specs.compare import worst
from attnspec.specs.contract import HIDING
from attnspec.specs.faulty import FAULTS
from attnspec.specs.faulty.registry import finite
from attnspec.specs.oracle import Conventions, Floats, Solution
from attnspec.specs.problem import Array, Problem

TOLD = 2.0
"""A faulty answer is told from the right one where it is off by this many tolerances: the faulty code rounds too."""

NONFINITE = ("hidden-values-leak", "hidden-keys-leak", "nan-swallowed")
"""The faults that show on problems with NaN or infinities among the inputs, and on no others."""


def parts(problem: Problem) -> list[str]:
    """What the answer consists of: the output, and what the options ask for beside it."""
    return ["output", *(part for part in ("weights", "lse") if problem.options.get(f"return_{part}"))]


def answers(solution: Solution) -> dict[str, Floats]:
    """The parts of the answer, each like the problem in rank."""
    problem = solution.problem
    arrays = {part: getattr(solution, part) for part in parts(problem)}
    return {part: array.reshape(array.shape[4 - problem.query.ndim :]) for part, array in arrays.items()}


@np.errstate(all="ignore")
def faulty(name: str, problem: Problem, conventions: Conventions) -> dict[str, Floats] | None:
    """What the fault makes of the problem; None where it has no effect."""
    if (finite(problem) is problem) == (name in NONFINITE):
        return None
    if name in NONFINITE[:2] and not set(problem.options) & set(HIDING):
        return None
    solution = FAULTS[name].answer(problem, conventions)
    return None if solution is None else answers(solution)


def flags(
    problem: Problem, conventions: Conventions, expected: Mapping[str, Array], tolerance: Mapping[str, Array]
) -> dict[str, str]:
    """The faults that a golden vector tells from the right answer, and the effect of each."""
    found = {}
    for name in FAULTS:
        came = faulty(name, problem, conventions) or {}
        for part in came:
            difference = worst(came[part], expected[part], tolerance[part])
            if difference is not None and difference.ratio > TOLD:
                found[name] = effect(part, expected[part], came[part])
                break
    return found


def effect(part: str, wanted: Array, came: Array) -> str:
    """How far off a part of the answer is, in words."""
    if (np.isnan(came) & ~np.isnan(wanted)).any():
        return f"{part} becomes NaN"
    if (np.isnan(wanted) & ~np.isnan(came)).any():
        return f"{part} is a number where NaN is right"
    infinite = (np.isinf(came) | np.isinf(wanted)) & (came != wanted)
    if infinite.any():
        return f"{part} is {came[infinite][0]:.2g} instead of {wanted[infinite][0]:.2g}"
    with np.errstate(invalid="ignore"):
        return f"{part} differs by {np.nanmax(np.abs(came - wanted)):.2g}"
