"""Shape: sizes and dtypes of what comes back, for every size of what goes in."""

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import Violation, hold, invariant
from attnspec.specs.invariants.common import EQUATION_1, asked, hold_result, require, slack
from attnspec.specs.problem import Array, Problem, lifted, numpy_dtype


@invariant(
    "shape.output",
    formula="O ∈ ℝ^(B×Hq×L×Dv), W ∈ ℝ^(B×Hq×L×S), LSE ∈ ℝ^(B×Hq×L)",
    source=EQUATION_1,
    catches=("H10", "H16", "I8"),
)
def output(backend: Backend, problem: Problem) -> float:
    """The output is (B, Hq, L, Dv), returned weights (B, Hq, L, S) and log-sum-exp (B, Hq, L), at the inputs' rank."""
    backend.solve(problem)  # which raises Malformed
    if "key_lengths" in problem.options:  # keys that all samples hide take no row with them
        backend.solve(problem.with_options(key_lengths=np.minimum(problem.options["key_lengths"], 1)))
    return 0.0


def _equal(what: str, wanted: object, came: object) -> None:
    if wanted != came:
        raise Violation(f"{what}: wanted {wanted}, came {came}")


@invariant(
    "shape.dtype",
    formula="dtype(O) = dtype(W) = dtype(Q); dtype(LSE) = float32 for half precision, else dtype(Q)",
    source="torch.nn.functional.scaled_dot_product_attention, ONNX Attention: output of the inputs' type",
    catches=("P2",),
)
def dtype(backend: Backend, problem: Problem) -> float:
    """Output and weights keep the inputs' dtype; the log-sum-exp does too, but is float32 for half precision."""
    result, half = backend.solve(problem), numpy_dtype(problem.dtype).itemsize < 4
    wanted = {"output": problem.dtype, "weights": problem.dtype, "lse": "float32" if half else problem.dtype}
    for name in asked(problem):
        _equal(f"dtype of {name}", wanted[name], str(getattr(result, name).dtype))
    return 0.0


@invariant(
    "shape.zero_size",
    formula="B, L, S, Dk or Dv = 0",
    source="array API standard: zero-size arrays are arrays; an empty sum is 0, softmax over no scores an empty row",
    catches=("H6",),
    needs={"zero_size"},
)
def zero_size(backend: Backend, problem: Problem) -> float:
    """A dimension of size 0 gives what the definition says: nothing, an empty row, or for Dk = 0 uniform weights."""
    return hold_result(backend, problem, backend.solve(problem))


@invariant(
    "shape.one",
    formula="S = 1 ⟹ O_i = V_1 for every i that sees the key",
    source=EQUATION_1,
    catches=("H10",),
    needs={"one_key"},
    without={"sinks"},
)
def one(backend: Backend, problem: Problem) -> float:
    """With a single key every query that sees it gets exactly its value."""
    _, _, _, queries, *_ = problem.shape
    require(queries > 0)
    solution = backend.solution(problem)
    wanted = np.broadcast_to(solution.value, (*solution.weights.shape[:3], solution.value.shape[-1]))
    seen = ~solution.empty[..., None]
    came = lifted(backend.solve(problem).output)
    return hold("output", np.where(seen, came, 0), np.where(seen, wanted, 0), backend.bound(problem).output)


@invariant(
    "shape.value_dim",
    formula="O ∈ ℝ^(n×d_v), d_v ≠ d_k",
    source=EQUATION_1,
    catches=("E11", "G11"),
    needs={"value_dim"},
)
def value_dim(backend: Backend, problem: Problem) -> float:
    """The value dimension may differ from the key dimension: the output has the former, the scale the latter."""
    result = backend.solve(problem)
    _equal("last size of output", problem.value.shape[-1], result.output.shape[-1])
    return hold_result(backend, problem, result)


@invariant(
    "shape.multi_head",
    formula="merge(A(split(X))) ∈ ℝ^(n×d_model), head by head what A gives for one head",
    source="Vaswani et al. 2017, section 3.2.2",
    catches=("E7", "G2", "G3", "G4"),
    without={"gqa", "mask", "bias", "cross", "value_dim", "rank2", "alibi_slopes", "sinks", "zero_size"},
    costly=True,
)
def multi_head(backend: Backend, problem: Problem) -> float:
    """Splitting n × d_model into h heads, attending and merging keeps n × d_model, each head on its own columns."""
    _, heads, *_ = problem.shape
    require(heads > 1)
    whole = backend.solve(problem)
    merged = _merge(whole.output)
    _equal("merged shape", _merge(problem.query).shape, merged.shape)
    ratios, width = [], problem.value.shape[-1]
    for head in range(heads):
        alone = backend.solve(_only_head(problem, head)).output
        columns = merged[..., head * width : (head + 1) * width]
        limit = slack(backend, problem)[:, head].reshape(columns.shape)
        ratios.append(hold(f"columns of head {head}", columns, _merge(alone), limit))
    return max(ratios)


def _merge(array: Array) -> Array:
    """(…, H, L, D) to (…, L, H·D)."""
    turned = np.swapaxes(array, -3, -2)
    return turned.reshape(*turned.shape[:-2], -1)


def _only_head(problem: Problem, head: int) -> Problem:
    one = slice(head, head + 1)
    parts = {name: getattr(problem, name)[..., one, :, :] for name in ("query", "key", "value")}
    return problem.replace(**parts)
