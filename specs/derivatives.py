"""Derivatives of the oracle along a direction, by central differences: for what it has no formula of its own.

With D(h) = (f(x + h·d) − f(x − h·d)) / 2h, the derivative is R = (4·D(h/2) − D(h)) / 3 up to h⁴ (Richardson 1911);
|R − D(h/2)|, the error of the lesser approximation, bounds it where h is small. The oracle's own rounding, at most
its float64 bound, is divided by h. A backend is granted GROWTH times the bound of f itself: a derivative has several
times the roundings of its function.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnspec.specs.problem import Array, Problem

Floats = NDArray[np.float64]

STEP = 2.0**-10
GROWTH = 64


class Derivative(NamedTuple):
    """The derivative along a direction, and how far a correct implementation in float64 may be from it."""

    value: Floats
    bound: Floats


def along(
    function: Callable[[Problem], Any],
    problem: Problem,
    directions: Mapping[str, Array],
    exact: Floats,
    granted: Floats,
) -> Derivative:
    """The derivative of ``function`` at a problem in float64.

    ``directions`` go by the names of inputs and options; ``exact`` and ``granted`` are the bounds of the function's
    value for the oracle and for the backend.
    """

    def difference(step: float) -> Floats:
        after, before = (np.asarray(function(moved(problem, directions, sign * step))) for sign in (1, -1))
        return np.asarray((after - before) / (2 * step))

    wide, narrow = difference(STEP), difference(STEP / 2)
    value = (4 * narrow - wide) / 3
    return Derivative(np.asarray(value), np.asarray(np.abs(value - narrow) + 4 * exact / STEP + GROWTH * granted))


def moved(problem: Problem, directions: Mapping[str, Array], step: float) -> Problem:
    """The problem a step further along the directions."""
    inputs = {n: getattr(problem, n) + step * d for n, d in directions.items() if n in ("query", "key", "value")}
    options: dict[str, Any] = {n: problem.options[n] + step * d for n, d in directions.items() if n not in inputs}
    return problem.replace(**inputs).with_options(**options)
