"""Range: the definition holds at the ends of what a number can be, and over the longest rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import Probe, invariant
from attnspec.specs.invariants.common import EQUATION_1, hold_result
from attnspec.specs.problem import Array, Problem, numpy_dtype
from attnspec.specs.recipe import Recipe, Shape

SHAPE = Shape(1, 1, 1, 3, 4, 1, 1)

MILAKOV = "Milakov & Gimelshein 2018, section 2: softmax is safe if the maximum is subtracted first"


def _probe(make: Callable[[str], tuple[Any, Any, float]]) -> Probe:
    """A problem of one-dimensional queries, keys and a scale that ``make`` gives for a dtype; values are Gaussian."""

    def probe(dtype: str) -> Problem:
        problem = Recipe(SHAPE, dtype, "gaussian", 2).problem()
        query, key, scale = make(dtype)
        arrays = {"query": _column(query, dtype), "key": _column(key, dtype)}
        return problem.replace(**arrays).with_options(scale=scale)

    return probe


def _column(numbers: Any, dtype: str) -> Array:
    return np.array(numbers, numpy_dtype(dtype)).reshape(1, 1, -1, 1)


EXTREMES = {
    "scores from -10000 to 10000": lambda dtype: ([1, 50, -100], [-100, -99, 99, 100], 1.0),
    "all scores far below 0": lambda dtype: ([1, 1, 1], [-30000, -30001, -30002, -30003], 1.0),
    "scores around -1e30": lambda dtype: (
        [1e15, 1e15, 2e15] if dtype != "float16" else [150, 150, 300],
        [-1e15, -1e15, -1e15, -1e15] if dtype != "float16" else [-100, -100, -100, -100],
        1.0,
    ),
    "a scale of a million": lambda dtype: ([1, 2, -3], [0, 1, 1, 2], 1e6),
    "a scale of a millionth": lambda dtype: ([1000, 2000, -3000], [0, 1000, 1000, 2000], 1e-6),
}


@invariant(
    "range.extreme_scores",
    formula="O = softmax(s)·V for s from −1e30 to 1e7",
    source=MILAKOV,
    catches=("F5",),
    claims={"scale", "cross"},
    probes=[_probe(make) for make in EXTREMES.values()],
)
def extreme_scores(backend: Backend, problem: Problem) -> float:
    """Scores of any size, all far below 0 as well, give the softmax of the definition."""
    return hold_result(backend, problem, backend.solve(problem))


def _long_row(dtype: str | None = None) -> Probe:
    def probe(asked: str) -> Problem:
        return Recipe(Shape(1, 1, 1, 1, 4096, 2, 2), dtype or asked, "constant", 1).problem()

    return probe


@invariant(
    "range.long_rows",
    formula="S = 4096 equal keys ⟹ O = mean of V",
    source=EQUATION_1,
    catches=("K6",),
    claims={"cross", "long_rows"},
    probes=(_long_row(), _long_row("float16"), _long_row("bfloat16")),
)
def long_rows(backend: Backend, problem: Problem) -> float:
    """A row of 4096 equal weights is still their mean, in half precision too: no count and no sum stands still."""
    return hold_result(backend, problem, backend.solve(problem))
