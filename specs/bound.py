"""How far a correct implementation may be from the oracle: a computed bound for every element, nothing tuned.

Method: Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., ch. 3. With unit roundoff u, a sum of n
rounded products is off by at most γ_n·Σ|products|, γ_n = n·u/(1 − n·u) (eq. 3.5), in any order of summation.

Derivation. Let s be the exact scores and s + e the computed ones, |e| ≤ δ.

1. Scores. A dot product of length d costs γ_{d+2}·|q||k|. Every array that an implementation may store on the way
   (scaled query, scaled key, product, scaled product, product in another base for exp2, biased score, converted
   bias, scale) costs one rounding u_s relative to the magnitude |scale|·|q||k| + |bias|: ROUNDINGS of them; a softcap
   (division, tanh to 4 units, product) CAP_ROUNDINGS more, and has slope ≤ 1. Subtracting the row maximum and the
   block maxima of online softmax costs 2u_s·|s − max|: block maxima only grow, so their steps add up to no more.
2. Weights. The computed weight is p_j·exp(e_j)/Σ_k p_k·exp(e_k), which lies between the values at e = (δ_j, −δ
   elsewhere) and the reverse: the first is the further one, p_j·expm1(δ_j − log1p(Σ p·expm1(−δ))).
   Exponential, sum, quotient, rescaling between blocks (at most one a key) add γ_{2S+16} and storing adds 4u_s.
3. Output. Weight errors times |V|, and the second sum: (γ_{2S+16} + 4u_s + u)·(p|V|).
4. Log-sum-exp. log Σ p·exp(e) ≤ log1p(Σ p·expm1(δ)), and the roundings of the sum, the logarithm and the maximum.
5. Gradients. The same steps through dP = dO·Vᵀ, D = Σ P∘dP (or dO·O), dS = P∘(dP − D), with the weights either
   kept or recomputed from the log-sum-exp.

Underflow adds the smallest number that the storage distinguishes from zero. Where a dot product overflows the type
the scores are declared to be stored in, the bound is infinite for that row. Each u has the oracle's own 2⁻⁵³ added.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attnspec.specs.oracle import Floats, Solution
from attnspec.specs.problem import Array, numpy_dtype

UNIT_ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}

ROUNDINGS = 8
CAP_ROUNDINGS = 6


def _limits(dtype: str) -> Any:
    import ml_dtypes

    return ml_dtypes.finfo(numpy_dtype(dtype))


@dataclass(frozen=True)
class Precision:
    """Unit roundoffs of the output (u), the accumulators (u_a), stored scores and weights (u_s) and the LSE."""

    output: float
    accumulator: float
    stored: float
    lse: float
    smallest: float
    """What storing may lose to underflow."""
    largest: float
    """What stored scores must not exceed."""

    @staticmethod
    def of(dtype: str, intermediate: str, flushes_subnormals: bool = False) -> "Precision":
        """For inputs of ``dtype`` under the convention intermediate_dtype = ``intermediate``."""
        unit, oracle = UNIT_ROUNDOFF[dtype], UNIT_ROUNDOFF["float64"]
        single = min(unit, UNIT_ROUNDOFF["float32"])
        stored = dtype if intermediate == "input" or unit < UNIT_ROUNDOFF["float32"] else "float32"
        limits = _limits(dtype)
        smallest = limits.smallest_normal if flushes_subnormals else limits.smallest_subnormal
        return Precision(
            output=unit + oracle,
            accumulator=single + oracle,
            stored=UNIT_ROUNDOFF[stored] + oracle,
            lse=single + oracle,
            smallest=float(smallest),
            largest=float(_limits(stored).max),
        )


def gamma(terms: int, unit: float) -> float:
    """γ_n = n·u/(1 − n·u), Higham eq. 3.4."""
    return terms * unit / (1 - terms * unit)


@dataclass(frozen=True, eq=False)
class Bound:
    """The error bounds of one solution at one precision; four axes throughout."""

    solution: Solution
    precision: Precision
    values_may_overflow: bool = False
    """Whether S·max|V| beyond the output's range is a declared limit (value_range = "sum")."""

    @cached_property
    def _dots(self) -> Floats:
        return np.abs(self.solution.query) @ np.swapaxes(np.abs(self.solution.key), -1, -2)

    @cached_property
    def lost(self) -> Floats:
        """(B, Hq, L, 1): True for rows whose stored scores overflow, or that no convention determines."""
        unscaled = np.abs(self.solution.query @ np.swapaxes(self.solution.key, -1, -2))
        beyond = np.maximum(unscaled, np.abs(self.solution.scaled)) * (1 + self._relative) > self.precision.largest
        return (beyond.any(-1) | self.solution.undetermined)[..., None]

    @property
    def _relative(self) -> float:
        """Error of a score relative to its magnitude."""
        key_dim = self.solution.problem.shape[5]
        stored = ROUNDINGS + (CAP_ROUNDINGS if self.solution.softcap else 0)
        return gamma(key_dim + 2, self.precision.accumulator) + stored * self.precision.stored

    @cached_property
    def delta(self) -> Floats:
        """(B, Hq, L, S): the largest error of a score."""
        s, p = self.solution, self.precision
        added = np.where(np.isfinite(s.added), np.abs(s.added), 0.0)
        magnitude = abs(s.scale) * self._dots + added
        below = np.where(np.isfinite(s.logits), np.abs(s.logits - s.top[..., None]), 0.0)
        lengths = np.abs(s.query).sum(-1)[..., None] + np.abs(s.key).sum(-1)[..., None, :]
        underflow = p.smallest * (4 + lengths * (1 + abs(s.scale)))
        return np.where(self.lost, 0.0, self._relative * magnitude + 2 * p.stored * below + underflow)

    @cached_property
    def _sink(self) -> tuple[Floats, Floats]:
        """(B, Hq, L): the sinks' share of the denominator, and the error of their logits."""
        s = self.solution
        denominator = np.where(np.isfinite(s.log_denominator), s.log_denominator, 0.0)
        share = np.where(s.empty, 0.0, np.exp(s.sinks - denominator))
        size = np.where(np.isfinite(s.sinks), np.abs(s.sinks), 0.0)
        below = np.where(np.isfinite(s.sinks), np.abs(s.sinks - s.top), 0.0)
        return share, 2 * self.precision.stored * (size + below)

    @cached_property
    def _drift(self) -> tuple[Floats, Floats]:
        """(B, Hq, L): the largest and smallest log Σ p·exp(e) that score errors within δ can make."""
        share, sink = self._sink
        weights = np.where(self.solution.empty[..., None], 0.0, self.solution.weights)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            up = _stretched(weights, self.solution.log_weights, self.delta).sum(-1) + share * np.expm1(sink)
            down = (weights * np.expm1(-self.delta)).sum(-1) + share * np.expm1(-sink)
            return np.log1p(up), np.log1p(np.maximum(down, -1.0))

    @property
    def _sum_error(self) -> float:
        return gamma(2 * self.solution.problem.shape[4] + 16, self.precision.accumulator)

    @cached_property
    def stored_weights(self) -> Floats:
        """(B, Hq, L, S): the error of the weights that meet the values; 0 where hidden."""
        s, p = self.solution, self.precision
        _, down = self._drift
        with np.errstate(over="ignore", invalid="ignore"):
            moved = _stretched(s.weights, s.log_weights, self.delta - down[..., None])
            error = moved + (self._sum_error + 4 * p.stored) * (s.weights + moved) + 2 * p.smallest
        error = np.where(s.empty[..., None], (self._sum_error + 4 * p.stored) * s.weights, error)
        return np.where(np.isfinite(s.logits) | s.empty[..., None], error, 0.0)

    @cached_property
    def weights(self) -> Floats:
        """(B, Hq, L, S): the error of the returned weights; 0 where a key is hidden."""
        rounded = 2 * self.precision.output * self.solution.weights
        return np.where(self.lost, np.inf, self.stored_weights + rounded)

    @cached_property
    def output(self) -> Floats:
        """(B, Hq, L, Dv)"""
        s, p = self.solution, self.precision
        size = np.abs(s.value)
        carried = (s.weights + self.stored_weights) @ size
        error = self.stored_weights @ size + (self._sum_error + 4 * p.stored + p.output) * carried
        error = error + np.where(s.empty & (s.weights.sum(-1) == 0), 0.0, 4 * p.smallest)[..., None]
        if self.values_may_overflow:
            error[np.broadcast_to(carried.sum(-1, keepdims=True) > p.largest, error.shape)] = np.inf
        return np.where(self.lost, np.inf, error)

    @cached_property
    def lse(self) -> Floats:
        """(B, Hq, L)"""
        s, p = self.solution, self.precision
        up, down = self._drift
        sizes = np.where(s.empty, 0.0, np.abs(s.log_denominator) + np.abs(s.top))
        error = np.maximum(up, -down) + self._sum_error + 4 * p.lse * sizes + 2 * p.stored * np.abs(s.top)
        return np.where(self.lost[..., 0], np.inf, np.where(s.empty, 0.0, error))

    def gradients(self, cotangent: Array) -> tuple[Floats, Floats, Floats]:
        """The errors of (dquery, dkey, dvalue) of ⟨output, cotangent⟩."""
        s, p = self.solution, self.precision
        into_output = np.abs(np.asarray(cotangent, np.float64))
        error, value = self._score_gradient(np.asarray(cotangent, np.float64)), np.abs(s.scale * s.cap_slope)
        size = value * np.abs(s.score_gradient(np.asarray(cotangent, np.float64)))
        slope = (2 / s.softcap * self.delta + 8 * p.stored) if s.softcap else np.zeros_like(error)
        grad = np.abs(s.score_gradient(np.asarray(cotangent, np.float64))) + error
        error = value * error + abs(s.scale) * slope * grad + 8 * p.stored * size
        _, heads, kv_heads, queries, keys, *_ = s.problem.shape
        rows = queries * max(heads // max(kv_heads, 1), 1)
        weights = s.weights + self.stored_weights
        dquery = _product(error, size, np.abs(s.key), keys, p)
        dkey = _product(_turned(error), _turned(size), np.abs(s.query), rows, p)
        dvalue = _product(_turned(self._weights_again), _turned(weights), into_output, rows, p)
        lost = self.lost.any(axis=-2, keepdims=True)
        return (
            np.where(self.lost, np.inf, dquery),
            s.per_kv_head(np.where(lost, np.inf, dkey)),
            s.per_kv_head(np.where(lost, np.inf, dvalue)),
        )

    @cached_property
    def _weights_again(self) -> Floats:
        """(B, Hq, L, S): the error of weights recomputed from the log-sum-exp."""
        s = self.solution
        with np.errstate(over="ignore", invalid="ignore"):
            drift = np.expm1(np.where(np.isfinite(self.lse), self.lse, 0.0))[..., None]
        return self.stored_weights + drift * np.where(s.empty[..., None], 0.0, s.weights + self.stored_weights)

    def _score_gradient(self, cotangent: Floats) -> Floats:
        """(B, Hq, L, S): the error of dS = P∘(dP − D)."""
        s, p = self.solution, self.precision
        value_dim = s.problem.shape[6]
        size = np.abs(cotangent) @ np.swapaxes(np.abs(s.value), -1, -2)
        into_weights = (gamma(value_dim + 2, p.accumulator) + 2 * p.stored) * size + 2 * p.smallest
        weights, error = s.weights, self._weights_again
        summed = ((weights + error) * size).sum(-1, keepdims=True)
        through_output = (np.abs(cotangent) * np.where(self.lost, 0.0, self.output)).sum(-1, keepdims=True)
        roundings = self._sum_error + gamma(value_dim + 2, p.accumulator) + 4 * p.stored + p.output
        mean = (error * size + weights * into_weights).sum(-1, keepdims=True) + roundings * summed + through_output
        moved = (error + weights) * (into_weights + mean) + error * (size + summed)
        moved = moved + 4 * p.stored * weights * (size + summed) + 2 * p.smallest
        return np.where(np.isfinite(s.logits), moved, 0.0)


def _stretched(weights: Floats, log_weights: Floats, delta: Floats) -> Floats:
    """p·expm1(δ), also where p underflows or δ is large."""
    small = delta < 0.5
    near = weights * np.expm1(np.where(small, delta, 0.0))
    far = np.exp(log_weights + np.where(small, 0.0, delta))
    return np.where(np.isneginf(log_weights), 0.0, np.where(small, near, far))


def _turned(array: Floats) -> Floats:
    return np.swapaxes(array, -1, -2)


def _product(error: Floats, size: Floats, other: Floats, terms: int, p: Precision) -> Floats:
    """The error of a product of ``terms`` terms whose left factor is ``size`` ± ``error``."""
    relative = gamma(terms + 4, p.accumulator) + 4 * p.stored + 4 * p.output
    exact = (size + error) @ other
    underflow = 4 * p.smallest * (1 + other.sum(-2, keepdims=True)) * (exact > 0)
    return error @ other + relative * exact + underflow
