"""Softmax: the weights are a probability distribution over the visible keys."""

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import Violation, hold, invariant
from attnspec.specs.contract import HIDING
from attnspec.specs.invariants.common import EQUATION_1, integral, part, require
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Array, Problem, lifted


@invariant(
    "softmax.rows_sum_to_one",
    formula="Σ_j W_ij = 1",
    source=EQUATION_1,
    catches=("C16", "C27", "F1", "F3", "F4", "K6"),
    needs={"return_weights"},
    without={"sinks"},
)
def rows_sum_to_one(backend: Backend, problem: Problem) -> float:
    """Each row of weights with a visible key sums to 1."""
    solution, bound = backend.solution(problem), backend.bound(problem)
    sums = _float64(part(backend.solve(problem), "weights")).sum(-1)
    return hold("sum of weights", np.where(solution.empty, 1.0, sums), np.ones_like(sums), bound.weights.sum(-1))


@invariant(
    "softmax.weights_nonnegative",
    formula="0 ≤ W_ij ≤ 1",
    source=EQUATION_1,
    catches=(),
    needs={"return_weights"},
)
def weights_nonnegative(backend: Backend, problem: Problem) -> float:
    """No weight is negative, and none is above 1."""
    weights = _float64(part(backend.solve(problem), "weights"))
    bound = backend.bound(problem).weights
    return hold("weights", weights, np.where(np.isnan(weights), weights, np.clip(weights, 0, 1)), bound)


@invariant(
    "softmax.hidden_weight_zero",
    formula="j hidden from i ⟹ W_ij = 0",
    source="Vaswani et al. 2017, section 3.2.3: masking out by setting to −∞ all illegal inputs of the softmax",
    catches=("B8", "B13", "C8", "C9", "C12", "C13", "C14", "C17", "C27", "L1", "P8"),
    needs={"return_weights"},
    any_of=HIDING,
)
def hidden_weight_zero(backend: Backend, problem: Problem) -> float:
    """A hidden key has weight exactly 0 in every row that has a visible one."""
    solution = backend.solution(problem)
    hidden = ~solution.seen & ~solution.empty[..., None]
    require(bool(hidden.any()))
    ratios = []
    for case, where in ((problem, ""), (_far_below(problem), " where all scores are far below 0")):
        came = np.where(hidden, _float64(part(backend.solve(case), "weights")), 0.0)
        ratios.append(hold(f"hidden weights{where}", came, np.zeros_like(came), backend.bound(case).weights))
    return max(ratios)


def _far_below(problem: Problem) -> Problem:
    """The problem with every score far below 0: in all but float16 below the finite stand-ins for −∞."""
    size = 40 if problem.dtype == "float16" else 150  # whose dot products float16 can hold
    return problem.replace(query=np.full_like(problem.query, size), key=np.full_like(problem.key, -size))


@invariant(
    "softmax.hull",
    formula="min_j V_j ≤ O_i ≤ max_j V_j over the keys j that i sees",
    source="Bahdanau et al. 2015, eq. 5–6: the output is an expected value",
    catches=("C16", "F1", "H12"),
    without={"sinks"},
)
def hull(backend: Backend, problem: Problem) -> float:
    """Each output lies between the smallest and the largest value that its query sees."""
    require(problem.shape[4] > 0)
    solution, output = backend.solution(problem), _float64(part(backend.solve(problem), "output"))
    seen = solution.seen[..., None]  # (B, Hq, L, S, 1)
    value = solution.value[:, :, None]  # (B, Hq, 1, S, Dv)
    low = np.where(seen, value, np.inf).min(3, initial=np.inf)
    high = np.where(seen, value, -np.inf).max(3, initial=-np.inf)
    wanted = np.where(solution.empty[..., None] | np.isnan(output), output, np.clip(output, low, high))
    if np.isnan(output[~solution.empty]).any() and np.isfinite(backend.bound(problem).output).all():
        raise Violation(f"output: wanted numbers between {low.min():.6g} and {high.max():.6g}, came NaN")
    return hold("output outside the hull:", output, wanted, backend.bound(problem).output)


@invariant(
    "softmax.constant_value",
    formula="V_j = c for all j ⟹ O_i = c",
    source=EQUATION_1,
    catches=("C16", "F1", "F3", "H12", "H15", "K6"),
    without={"sinks"},
)
def constant_value(backend: Backend, problem: Problem) -> float:
    """If all values are the same vector, so is every output that sees one of them."""
    _, _, _, _, keys, *_ = problem.shape
    require(keys > 0)
    same = problem.replace(value=np.broadcast_to(problem.value[..., :1, :], problem.value.shape))
    solution, bound = backend.solution(same), backend.bound(same)
    wanted = np.broadcast_to(solution.value[..., :1, :], bound.output.shape)
    output = part(backend.solve(same), "output")
    empty = solution.empty[..., None]
    return hold("output", np.where(empty, 0, output), np.where(empty, 0, wanted), bound.output)


@invariant(
    "softmax.score_shift",
    formula="softmax(s + c) = softmax(s)",
    source=EQUATION_1,
    catches=("D5", "F5"),
    without={"sinks", "softcap"},
)
def score_shift(backend: Backend, problem: Problem) -> float:
    """Adding one constant to all scores of a row, far up or far down, changes no output."""
    plain = problem.replace(query=integral(problem.query), key=integral(problem.key))
    ratios = []
    for shift in (-64, 64):
        moved = plain.replace(key=(np.asarray(plain.key, np.float64) + shift).astype(plain.key.dtype))
        came, wanted = backend.solve(moved), backend.solution(plain)
        limit = part(backend.bound(moved), "output") + part(backend.bound(plain), "output")
        ratios.append(hold(f"with keys moved by {shift}, output", part(came, "output"), wanted.output, limit))
    return max(ratios)


@invariant(
    "softmax.zero_query",
    formula="Q_i = 0 ⟹ O_i = mean of the values that i sees",
    source=EQUATION_1,
    catches=("C17", "H6"),
    without={"sinks", "bias", "alibi_slopes"},
)
def zero_query(backend: Backend, problem: Problem) -> float:
    """A query of zeros attends to all visible keys alike: its output is their values' mean."""
    blank = problem.replace(query=np.zeros_like(problem.query))
    solution, output = backend.solution(blank), part(backend.solve(blank), "output")
    wanted = _mean(solution.value, solution.visible)
    empty = solution.empty[..., None]
    return hold("output", np.where(empty, 0, output), np.where(empty, 0, wanted), backend.bound(blank).output)


def _mean(value: Floats, visible: Array) -> Floats:
    """(B, Hq, L, Dv): the mean of the values whose keys are visible, summed one by one."""
    count = np.maximum(visible.sum(-1), 1)[..., None]
    mean: Floats = np.where(visible[..., None], value[:, :, None], 0.0).sum(3) / count
    return mean


@invariant(
    "softmax.every_key_counts",
    formula="S equal keys ⟹ W_ij = 1/S, each of the S values one part",
    source=EQUATION_1,
    catches=("H12", "H13", "H14", "K6", "O12"),
    without={"sinks", "bias", "alibi_slopes", "mask", "is_causal", "window", "key_lengths", "query_segments"},
)
def every_key_counts(backend: Backend, problem: Problem) -> float:
    """Of equal keys each has the same part in the output: first, last and all between."""
    _, _, _, queries, keys, *_ = problem.shape
    require(keys > 1 and queries > 0 and problem.value.shape[-1] > 0)
    same = problem.replace(key=np.broadcast_to(problem.key[..., :1, :], problem.key.shape))
    ratios = []
    for key in {0, keys // 2, keys - 1}:
        value = np.zeros_like(problem.value)
        value[..., key, :] = 1
        marked = same.replace(value=value)
        output = part(backend.solve(marked), "output")
        wanted = np.full(output.shape, 1 / keys)
        ratios.append(hold(f"part of key {key}", output, wanted, backend.bound(marked).output))
    return max(ratios)


def _float64(array: Array) -> Floats:
    return np.asarray(lifted(array), np.float64)
