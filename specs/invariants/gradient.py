"""Gradients: of the output, with respect to query, key and value."""

from collections.abc import Iterable

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import Violation, Waived, hold, invariant
from attnspec.specs.contract import HIDING
from attnspec.specs.invariants.common import INPUTS, hidden_everywhere, part, require, slack, unchanged
from attnspec.specs.problem import Array, Problem, lifted
from attnspec.specs.transforms import cotangent, lifted_cotangent

SOURCE = "Dao et al. 2022, FlashAttention, appendix B.2"

NAMES = ("dquery", "dkey", "dvalue")


def determined(backend: Backend, problem: Problem) -> None:
    """Gradients through rows that are NaN by convention are NaN: nothing to hold."""
    solution, conventions = backend.solution(problem), backend.conventions
    by_bias = conventions["empty_row_bias"] == "nan" and solution.emptied_by_bias.any()
    by_mask = conventions["empty_row"] == "nan" and (solution.empty & ~solution.emptied_by_bias).any()
    if by_bias or by_mask or solution.undetermined.any():
        raise Waived


def _lifted(gradients: Iterable[Array]) -> list[Array]:
    return [lifted(gradient) for gradient in gradients]


@invariant(
    "gradient.oracle",
    formula="dV = WᵀdO, dS = W ∘ (dO·Vᵀ − Σ_j W ∘ dO·Vᵀ), dQ = scale·dS·K, dK = scale·dSᵀ·Q",
    source=SOURCE,
    catches=("A10", "A13", "G11", "J1", "J4", "J5", "J6"),
    needs={"gradient"},
    costly=True,
)
def oracle(backend: Backend, problem: Problem) -> float:
    """The gradients of query, key and value are those of the formula, within the error bound."""
    determined(backend, problem)
    came = _lifted(backend.gradients(problem, cotangent(problem)))
    back = lifted_cotangent(problem)
    wanted, bound = backend.solution(problem).gradients(back), backend.bound(problem).gradients(back)
    return max(hold(*items) for items in zip(NAMES, came, wanted, bound, strict=True))


@invariant(
    "gradient.hidden_zero",
    formula="j hidden from every query ⟹ dK_j = dV_j = 0",
    source=SOURCE,
    catches=("A10",),
    needs={"gradient"},
    any_of=HIDING,
    costly=True,
)
def hidden_zero(backend: Backend, problem: Problem) -> float:
    """Keys and values that no query may attend to have gradient exactly 0."""
    determined(backend, problem)
    hidden = hidden_everywhere(backend, problem)
    require(bool(hidden.any()))
    _, *known = (np.isfinite(bound) for bound in backend.bound(problem).gradients(lifted_cotangent(problem)))
    _, *came = _lifted(backend.gradients(problem, cotangent(problem)))
    # not where scores overflow the type that they are declared to be stored in
    zeros = (np.where(hidden[..., None] & finite, gradient, 0) for gradient, finite in zip(came, known, strict=True))
    return max(hold(name, zero, np.zeros_like(zero), 0.0) for name, zero in zip(NAMES[1:], zeros, strict=True))


@invariant(
    "gradient.empty_rows_finite",
    formula="no visible key for i ⟹ dQ_i = 0, and dK, dV finite",
    source="x ↦ 0 is constant: its gradient is 0, not 0·NaN",
    catches=("A3", "A10"),
    needs={"gradient"},
    any_of={"mask", "key_lengths", "query_segments"},
    costly=True,
)
def empty_rows_finite(backend: Backend, problem: Problem) -> float:
    """A query that sees no key has gradient 0 and makes no gradient NaN."""
    determined(backend, problem)
    solution = backend.solution(problem)
    require(bool(solution.empty.any()) and problem.shape[4] > 0)
    gradients = _lifted(backend.gradients(problem, cotangent(problem)))
    finite = all(np.isfinite(bound).all() for bound in backend.bound(problem).gradients(lifted_cotangent(problem)))
    for name, gradient in zip(NAMES, gradients, strict=True):
        if finite and not np.isfinite(np.asarray(gradient, np.float64)).all():
            raise Violation(f"{name}: wanted finite numbers, came {int((~np.isfinite(gradient)).sum())} that are not")
    blank = solution.empty & ~backend.bound(problem).lost[..., 0]  # not where scores overflow their declared type
    return hold("dquery of empty rows", gradients[0][blank], np.zeros_like(gradients[0][blank]), 0.0)


@invariant(
    "gradient.forward_agrees",
    formula="A(x) while gradients are recorded = A(x)",
    source="Linnainmaa 1976, reverse accumulation: the derivative is taken of the function's own value",
    needs={"gradient"},
    costly=True,
)
def forward_agrees(backend: Backend, problem: Problem) -> float:
    """Recording gradients does not change the output."""
    output, _ = backend.differentiated(problem, cotangent(problem))
    plain = part(backend.solve(problem), "output")
    return hold("output while gradients are recorded", lifted(output), plain, slack(backend, problem))


@invariant(
    "gradient.arguments_unchanged",
    formula="x and dO after the backward pass = x and dO before it",
    source="a gradient that comes in belongs to whoever sent it: other branches may need it",
    needs={"gradient"},
    costly=True,
)
def arguments_unchanged(backend: Backend, problem: Problem) -> float:
    """The backward pass changes neither the arguments nor the gradient that comes in."""
    inputs, extras, plain = backend.native(problem)
    back = backend.asarray(cotangent(problem))
    named = dict(zip(INPUTS, inputs, strict=True)) | extras | {"incoming gradient": back}
    function = backend.output_of(tuple(extras), plain)
    with unchanged(backend, named):
        backend.pulled_back(problem, function, inputs, back, tuple(extras.values()))
    return 0.0
