"""Definition: output, weights and log-sum-exp are what the formula says, within the error bound."""

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import invariant
from attnspec.specs.invariants.common import EQUATION_1, hold_result
from attnspec.specs.problem import Problem


@invariant(
    "definition.output",
    formula="O = softmax(scale·QKᵀ)·V",
    source=EQUATION_1,
    catches=(
        "B17",
        "B23",
        "C6",
        "C20",
        "D5",
        "E2",
        "E4",
        "E5",
        "E7",
        "E8",
        "E11",
        "F1",
        "G2",
        "G3",
        "H12",
        "H13",
        "J6",
        "K11",
        "K12",
        "L3",
        "M5",
        "M6",
        "M7",
        "M8",
        "N13",
        "N14",
    ),
)
def output(backend: Backend, problem: Problem) -> float:
    """The output is softmax(scale · query · keyᵀ) · value, with every option in the contract's order."""
    return hold_result(backend, problem, backend.solve(problem), parts=("output",))


@invariant(
    "definition.weights",
    formula="W = softmax(scale·QKᵀ)",
    source=EQUATION_1,
    catches=("B8", "C8", "F4"),
    needs={"return_weights"},
)
def weights(backend: Backend, problem: Problem) -> float:
    """Returned weights are the softmax of the scores, for every head on its own."""
    return hold_result(backend, problem, backend.solve(problem), parts=("weights",))


@invariant(
    "definition.lse",
    formula="LSE_i = log Σ_j exp(s_ij)",
    source="Dao et al. 2022, FlashAttention, algorithm 1: L = m + log(ℓ)",
    catches=("L4", "L7"),
    needs={"return_lse"},
)
def lse(backend: Backend, problem: Problem) -> float:
    """The returned log-sum-exp is the natural logarithm of the softmax's denominator."""
    return hold_result(backend, problem, backend.solve(problem), parts=("lse",))
