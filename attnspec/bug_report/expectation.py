"""What the definition says of a recorded call, with the error bound, part by part."""

from collections.abc import Callable
from typing import Any

import numpy as np

from attnspec.bug_report.recorder import Call
from attnspec.specs.backend import Backend
from attnspec.specs.bound import Precision, bound_of
from attnspec.specs.contract import FUNCTIONS
from attnspec.specs.derivatives import along
from attnspec.specs.functions import LAID_OUT, exactly
from attnspec.specs.invariants.common import INPUTS, asked, part
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Array, Problem, lifted

Expected = dict[str, tuple[Floats, Floats]]
"""Part of the result → (wanted, bound), in the shape of the result."""


@np.errstate(all="ignore")
def expected(backend: Backend, call: Call) -> Expected:
    """What the oracle gives; nothing for functions that it is not asked for, nor where numbers are none."""
    if call.kind in ("positional_encoding", "rotary_embedding"):
        keywords = {name: value for name, value in call.given.items() if isinstance(name, str)}
        x = call.given[0]
        x = backend.laid_out(x) if call.kind in LAID_OUT and x.ndim == 4 else x
        return {"output": exactly(backend, call.kind, x, **keywords)}
    if call.kind in FUNCTIONS or not _finite(call.problem):
        return {}
    if call.kind == "attention":
        return _attention(backend, call.problem)
    if call.option or call.of == "lse":
        return _element_by_element(backend, call)
    if call.kind == "gradient":
        return _gradients(backend, call)
    return _along(backend, call)


def _finite(problem: Problem) -> bool:
    bias = np.asarray(problem.options.get("bias", 0.0), np.float64)
    inputs = (np.asarray(getattr(problem, name), np.float64) for name in INPUTS)
    return not (np.isnan(bias) | np.isposinf(bias)).any() and all(np.isfinite(array).all() for array in inputs)


def _attention(backend: Backend, problem: Problem) -> Expected:
    solution, bound, rows = backend.solution(problem), backend.bound(problem), problem.query.shape[:-1]
    found: Expected = {}
    for name in asked(problem):
        wanted, limit = part(solution, name), part(bound, name)
        if wanted.size:
            shape = rows if name == "lse" else (*rows, wanted.shape[-1])
            found[name] = wanted.reshape(shape), limit.reshape(shape)
    return found


def _gradients(backend: Backend, call: Call) -> Expected:
    assert call.cotangent is not None
    back, problem = np.asarray(lifted(call.cotangent), np.float64), call.problem
    both = zip(backend.solution(problem).gradients(back), backend.bound(problem).gradients(back), strict=True)
    named = {f"d{name}": _like(getattr(problem, name), *pair) for name, pair in zip(INPUTS, both, strict=True)}
    output = _attention(backend, problem).get("output")
    return {**({} if output is None else {"output": output}), **named}


def _like(array: Array, *others: Array) -> Any:
    return tuple(other.reshape(array.shape) for other in others)


def _bounds(backend: Backend, problem: Problem) -> Any:
    return bound_of(backend.solution(problem), Precision.of("float64", "input")), backend.bound(problem)


def _along(backend: Backend, call: Call) -> Expected:
    """The derivative along the directions of the output, or of its gradients."""
    directions = dict(zip(INPUTS, call.directions, strict=True))
    bounds = _bounds(backend, call.problem)
    if call.kind == "forward_gradient":
        outputs = (bound.output for bound in bounds)
        found = along(lambda at: backend.solution(at).output, call.problem, directions, *outputs)
        return {"derivative": _like(call.results["derivative"], *found)}
    assert call.cotangent is not None
    back = np.asarray(lifted(call.cotangent), np.float64)
    both = [bound.gradients(back) for bound in bounds]
    wanted = {}
    for index, name in enumerate(INPUTS):

        def gradient(at: Problem, index: int = index) -> Floats:
            return backend.solution(at).gradients(back)[index]

        found = along(gradient, call.problem, directions, *(some[index] for some in both))
        wanted[f"d{name}"] = _like(getattr(call.problem, name), *found)
    return wanted


def _element_by_element(backend: Backend, call: Call) -> Expected:
    """The gradient of ⟨output or log-sum-exp, cotangent⟩, by differences along each element alone."""
    back = np.asarray(call.cotangent, np.float64)
    back = back.reshape((1,) * ((3 if call.of == "lse" else 4) - back.ndim) + back.shape)

    def scalar(at: Problem) -> Any:
        return (part(backend.solution(at), call.of) * back).sum()

    bounds = [(part(bound, call.of) * np.abs(back)).sum() for bound in _bounds(backend, call.problem)]
    names = [call.option] if call.option else list(INPUTS)
    return {f"d{name}": _each(call.problem, name, scalar, bounds) for name in names}


def _each(problem: Problem, name: str, function: Callable[[Problem], Any], bounds: list[Any]) -> tuple[Floats, Floats]:
    array = getattr(problem, name) if name in INPUTS else problem.options[name]
    wanted, bound = np.zeros(array.size), np.zeros(array.size)
    for flat in range(array.size):
        unit = np.zeros(array.size)
        unit[flat] = 1
        wanted[flat], bound[flat] = along(function, problem, {name: unit.reshape(array.shape)}, *bounds)
    return wanted.reshape(array.shape), bound.reshape(array.shape)
