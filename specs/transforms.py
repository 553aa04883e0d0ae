"""Putting an array library's transformations to use on a backend: gradient, compile, vectorize."""

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Array, Problem, lifted, numpy_dtype


def attempt(backend: Backend, problem: Problem, transforms: frozenset[str]) -> None:
    """Do what the transforms ask for, whatever comes of it. BackendError if the backend raises."""
    if not transforms:
        backend.solve(problem)
    if "gradient" in transforms:
        backend.gradients(problem, cotangent(problem))
    if "double_gradient" in transforms:
        backend.second_gradients(problem, cotangent(problem), _inputs(problem))
    if "forward_gradient" in transforms:
        backend.tangent(problem, _inputs(problem))
    if "compile" in transforms:
        backend.solve(problem, compiled=True)
    if "vectorize" in transforms:
        backend.mapped((problem, problem))
    if "views" in transforms:
        _viewed(backend, problem)


def _inputs(problem: Problem) -> list[Array]:
    return [problem.query, problem.key, problem.value]


def cotangent(problem: Problem) -> Array:
    """A gradient to send back, like the output, made of small integers so that it is exact in every dtype."""
    *outer, _ = problem.query.shape
    values = problem.rng.randint(-2, 3, (*outer, problem.value.shape[-1]))
    return values.astype(numpy_dtype(problem.dtype))


def lifted_cotangent(problem: Problem) -> Floats:
    """The same, float64 with four axes, for the oracle."""
    return np.asarray(lifted(cotangent(problem)), np.float64)


def _viewed(backend: Backend, problem: Problem) -> None:
    """A call for each layout in which the array library can give one of query, key and value."""
    inputs, extras, plain = backend.native(problem)
    function = backend.positional(tuple(extras), plain)
    for position, array in enumerate(inputs):
        for view in backend.arrays.views(backend.arrays.to_numpy(array), backend.device).values():
            with backend.guarded(problem.features | {"views"}):
                function(*inputs[:position], view, *inputs[position + 1 :], *extras.values())
