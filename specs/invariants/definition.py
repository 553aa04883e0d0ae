"""Definition: output, weights and log-sum-exp are what the formula says, within the error bound."""

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import invariant
from attnspec.specs.invariants.common import EQUATION_1, hold_result
from attnspec.specs.problem import Problem


@invariant(
    "definition.output",
    formula="O = softmax(scale·QKᵀ)·V",
    source=EQUATION_1,
    catches=("E2", "E4", "E5", "E8", "E11", "F1", "G2", "G3", "K2", "K3", "J6", "B1", "B17", "H12", "H13"),
)
def output(backend: Backend, problem: Problem) -> float:
    """The output is softmax(scale · query · keyᵀ) · value, with every option in the contract's order."""
    return hold_result(backend, problem, backend.solve(problem), parts=("output",))


@invariant(
    "definition.weights",
    formula="W = softmax(scale·QKᵀ)",
    source=EQUATION_1,
    catches=("I8", "B8", "C8"),
    needs={"return_weights"},
)
def weights(backend: Backend, problem: Problem) -> float:
    """Returned weights are the softmax of the scores, for every head on its own."""
    return hold_result(backend, problem, backend.solve(problem), parts=("weights",))


@invariant(
    "definition.lse",
    formula="LSE_i = log Σ_j exp(s_ij)",
    source="Dao et al. 2022, FlashAttention, algorithm 1: L = m + log(ℓ)",
    catches=("L4", "L7", "C30", "N10"),
    needs={"return_lse"},
)
def lse(backend: Backend, problem: Problem) -> float:
    """The returned log-sum-exp is the natural logarithm of the softmax's denominator."""
    return hold_result(backend, problem, backend.solve(problem), parts=("lse",))
