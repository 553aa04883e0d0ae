"""A function that follows given conventions to the letter: the oracle's answer, in NumPy.

It shows that an experiment tells its hypotheses apart: what follows one must not pass for what follows another.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnspec.loading import binding
from attnspec.specs.backend import Backend
from attnspec.specs.contract import Declaration
from attnspec.specs.oracle import LN2, Solution, solve
from attnspec.specs.problem import Array, Problem


def ideal(conventions: Mapping[str, Any]) -> Backend:
    """The backend; its function takes every option but dropout."""

    def attention(query: Array, key: Array, value: Array, **options: Any) -> Any:
        if conventions["mask"] == "block" and "mask" in options:
            options["mask"] = ~options["mask"]
        query, key, value = (_turned(array, conventions) for array in (query, key, value))
        return _parts(solve(Problem(query, key, value, options), conventions))

    arrays = binding("numpy")
    return Backend("ideal", attention, Declaration("numpy", conventions=dict(conventions)), arrays)


def _turned(array: Array, conventions: Mapping[str, Any]) -> Array:
    return np.swapaxes(array, -3, -2) if conventions["layout"] == "BLHD" and array.ndim > 2 else array


def _parts(solution: Solution) -> Any:
    """The output, with weights and log-sum-exp if they are asked for, in the inputs' dtype and rank."""
    problem, conventions = solution.problem, solution.conventions
    lead = problem.query.shape[:-2]
    output = solution.output.astype(problem.query.dtype)
    parts = [_turned(output.reshape(lead + output.shape[2:]), conventions)]
    if problem.options.get("return_weights"):
        parts.append(solution.weights.astype(problem.query.dtype).reshape(lead + solution.weights.shape[2:]))
    if problem.options.get("return_lse"):
        parts.append(_lse(solution).reshape(lead + solution.lse.shape[2:]))
    return tuple(parts) if len(parts) > 1 else parts[0]


def _lse(solution: Solution) -> Array:
    lse = solution.lse / (LN2 if solution.conventions["lse_base"] == 2 else 1.0)
    if solution.conventions["empty_row_lse"] == "lowest":
        lse = np.where(np.isneginf(lse), np.finfo(np.float32).min, lse)
    single = np.float64 if solution.problem.dtype == "float64" else np.float32
    return np.asarray(lse, single)
