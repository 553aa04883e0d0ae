"""In which precision scores and weights are kept: by errors that only rounding them to fewer digits explains."""

import numpy as np

from attnspec.probing.adapter import Adapter
from attnspec.probing.finding import Finding, Trial
from attnspec.probing.lab import Lab, attempt
from attnspec.specs.backend import Backend
from attnspec.specs.bound import UNIT_ROUNDOFF, Precision, bound_of
from attnspec.specs.catalogue import hold
from attnspec.specs.contract import CONVENTIONS
from attnspec.specs.problem import Problem, lifted, numpy_dtype
from attnspec.specs.recipe import Recipe, Shape

NAME = "intermediate_dtype"
HALF = ("float16", "bfloat16")
SEEDS = range(4)


def intermediate_dtype(lab: Lab, adapter: Adapter) -> Finding:
    """Value "at-most-float32" if float64 is not kept, "float32" if half precision is kept but in the output."""
    if "float64" in adapter.dtypes:
        wide = _trial(lab, adapter, Recipe(Shape(1, 2, 2, 3, 3, 2, 2), "float64", "gaussian", 1).problem())
        if not wide.fits:
            return Finding(NAME, "at-most-float32", "float64 numbers of many digits", (wide, _single(lab, adapter)))
    halves = [dtype for dtype in HALF if dtype in adapter.dtypes]
    if not halves:
        return Finding(NAME, None, "takes no half precision", asked=False, wanted=CONVENTIONS[NAME])
    trials = [_half(lab, adapter, cancelling(dtype, seed)) for dtype in halves for seed in SEEDS]
    worst = next((trial for trial in trials if not trial.fits), trials[0])
    words = "half precision, values that all but cancel: only the output may be rounded to it"
    return Finding(NAME, "float32" if worst.fits else "input", words, (worst,), wanted=CONVENTIONS[NAME])


def _trial(lab: Lab, adapter: Adapter, problem: Problem) -> Trial:
    return lab.attempt(adapter.following(intermediate_dtype="input"), problem, "float64")


def _single(lab: Lab, adapter: Adapter) -> Trial:
    problem = Recipe(Shape(1, 2, 2, 3, 3, 2, 2), "float64", "gaussian", 1).problem()
    return lab.attempt(adapter.following(intermediate_dtype="at-most-float32"), problem, "at-most-float32")


def _half(lab: Lab, adapter: Adapter, problem: Problem) -> Trial:
    return attempt(lab.backend(adapter), problem, "float32", kept_in_single)


def cancelling(dtype: str, seed: int) -> Problem:
    """Values whose weighted sum is all but 0 for the first query of each head: an error of a weight stands out."""
    problem = Recipe(Shape(1, 4, 4, 6, 6, 16, 16), dtype, "gaussian", seed).problem()
    scores = np.asarray(problem.query, np.float64) @ np.swapaxes(np.asarray(problem.key, np.float64), -1, -2) / 4
    weights = np.exp(scores[:, :, :1] - scores[:, :, :1].max(-1, keepdims=True))  # (B, H, 1, S)
    value = np.asarray(problem.value, np.float64)
    value = value - weights @ value / weights.sum(-1, keepdims=True)
    return problem.replace(value=value.astype(numpy_dtype(dtype)))


def kept_in_single(backend: Backend, problem: Problem) -> float:
    """Error ÷ what computing in float32 and one rounding of the output to half precision explain."""
    solution, came = backend.solution(problem), backend.solve(problem).output
    single = Precision.of("float32", "float32", backend.arrays.FLUSHES_SUBNORMALS)
    error, unit = bound_of(solution, single).output, UNIT_ROUNDOFF[problem.dtype]
    smallest = Precision.of(problem.dtype, "input", backend.arrays.FLUSHES_SUBNORMALS).smallest
    return hold("output", lifted(came), solution.output, error + unit * (np.abs(solution.output) + error) + smallest)
