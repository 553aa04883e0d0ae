"""Derivatives beyond the gradient of the output: second ones, forward ones, of options, of the log-sum-exp.

All in float64, where the oracle's own differences are sharp.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.bound import Bound, Precision, bound_of
from attnspec.specs.catalogue import Probe, hold, invariant
from attnspec.specs.derivatives import Floats, along
from attnspec.specs.invariants.common import INPUTS, part, require
from attnspec.specs.problem import Array, Problem, lifted
from attnspec.specs.recipe import Recipe, Shape
from attnspec.specs.transforms import cotangent, lifted_cotangent

REVERSE = "Griewank & Walther 2008, Evaluating Derivatives, chapter 3"


def _probe(**settings: str) -> Probe:
    return lambda dtype: (
        Recipe(Shape(1, 2, 2, 3, 4, 2, 2), "float64", "gaussian", 3).with_settings(**settings).problem()
    )


PROBES = (_probe(), _probe(mask="shared"), _probe(is_causal="on"), _probe(bias="full", softcap="two"))


def _directions(problem: Problem, names: tuple[str, ...]) -> dict[str, Array]:
    """For each input or option numbers out of -1, 0 and 1."""
    rng = problem.rng
    arrays = {name: getattr(problem, name) if name in INPUTS else problem.options[name] for name in names}
    return {name: rng.randint(-1, 2, array.shape).astype(np.float64) for name, array in arrays.items()}


def _bounds(backend: Backend, problem: Problem) -> tuple[Bound, Bound]:
    """The oracle's own bound, in float64 throughout, and the backend's."""
    return bound_of(backend.solution(problem), Precision.of("float64", "input")), backend.bound(problem)


@invariant(
    "derivative.second",
    formula="∂/∂(q, k, v) ⟨∇⟨O, c⟩, d⟩",
    source=REVERSE,
    catches=("P12",),
    needs={"double_gradient", "gradient", "float64"},
    probes=PROBES,
)
def second(backend: Backend, problem: Problem) -> float:
    """The gradient of a gradient is right: it is neither 0 nor that of another function."""
    back, directions = lifted_cotangent(problem), _directions(problem, INPUTS)
    came = backend.second_gradients(problem, cotangent(problem), [directions[name] for name in INPUTS])
    ratios, bounds = [], [bound.gradients(back) for bound in _bounds(backend, problem)]
    for index, name in enumerate(INPUTS):

        def gradient(at: Problem, index: int = index) -> Floats:
            return backend.solution(at).gradients(back)[index]

        wanted, bound = along(gradient, problem, directions, *(some[index] for some in bounds))
        ratios.append(hold(f"second derivative by {name}", lifted(came[index]), wanted, bound))
    return max(ratios)


@invariant(
    "derivative.forward",
    formula="d/dt A(q + t·d_q, k + t·d_k, v + t·d_v) at t = 0",
    source=REVERSE,
    needs={"forward_gradient", "float64"},
    probes=PROBES[:3],
)
def forward(backend: Backend, problem: Problem) -> float:
    """Derived forwards, along a direction, the output changes as the definition says."""
    directions = _directions(problem, INPUTS)
    came = backend.tangent(problem, [directions[name] for name in INPUTS])
    bounds = (bound.output for bound in _bounds(backend, problem))
    wanted, bound = along(lambda at: backend.solution(at).output, problem, directions, *bounds)
    return hold("derivative of the output", lifted(came), wanted, bound)


@invariant(
    "derivative.options",
    formula="∂⟨O, c⟩ / ∂(bias, slopes, sinks)",
    source=REVERSE,
    needs={"gradient", "float64"},
    any_of={"bias", "alibi_slopes", "sinks"},
    probes=(_probe(bias="full"), _probe(bias="head"), _probe(alibi_slopes="powers"), _probe(sinks="gaussian")),
)
def options(backend: Backend, problem: Problem) -> float:
    """The gradients of a bias, of ALiBi slopes and of sinks are those of the definition."""
    back = lifted_cotangent(problem)
    (name,) = problem.options
    gradient = backend.option_gradient(problem, name, cotangent(problem))

    def scalar(at: Problem) -> Any:
        return (backend.solution(at).output * back).sum()

    bounds = [(bound.output * np.abs(back)).sum() for bound in _bounds(backend, problem)]
    return _hold_along(problem, name, {name: gradient}, scalar, bounds)


@invariant(
    "derivative.lse",
    formula="∂⟨LSE, c⟩ / ∂(q, k) = scale · c · W·k, scale · c · Wᵀ·q",
    source="Dao et al. 2022, FlashAttention, appendix B.2",
    needs={"gradient", "return_lse", "float64"},
    probes=(_probe(return_lse="on"), _probe(return_lse="on", is_causal="on")),
)
def lse(backend: Backend, problem: Problem) -> float:
    """The log-sum-exp has the gradient of the definition, too."""
    back = problem.rng.randint(1, 3, problem.query.shape[:-1]).astype(np.float64)
    gradients = dict(zip(INPUTS, backend.lse_gradients(problem, back), strict=True))

    def scalar(at: Problem) -> Any:
        return (part(backend.solution(at), "lse") * back).sum()

    bounds = [(part(bound, "lse") * back).sum() for bound in _bounds(backend, problem)]
    return _hold_along(problem, "log-sum-exp", gradients, scalar, bounds)


def _hold_along(
    problem: Problem, what: str, gradients: dict[str, Array], function: Callable[[Problem], Any], bounds: Any
) -> float:
    """The gradients, seen along directions that move one element each, or all of one array."""
    ratios = [0.0]
    for name, gradient in gradients.items():
        for direction in (*_units(gradient), np.ones(gradient.shape)):
            came = np.asarray((gradient * direction).sum())
            wanted, bound = along(function, problem, {name: direction}, *bounds)
            ratios.append(hold(f"gradient of the {what}, {name}", came, wanted, bound))
    require(len(ratios) > 1)
    return max(ratios)


def _units(array: Array) -> list[Array]:
    """Directions with a single 1: at some elements."""
    units = []
    for flat in sorted({0, array.size // 3, array.size - 1}):
        unit = np.zeros(array.size)
        unit[flat] = 1
        units.append(unit.reshape(array.shape))
    return units
