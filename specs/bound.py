"""How far a correct implementation may be from the oracle: a computed bound for every element, nothing tuned.

Method: Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., ch. 3. With unit roundoff u, a sum of n
rounded products is off by at most γ_n·Σ|products|, γ_n = n·u/(1 − n·u) (eq. 3.5), in any order of summation.

Derivation. Let s be the exact scores and s + e the computed ones, |e| ≤ δ.

1. Scores. A dot product of length d costs γ_{d+2}·|q||k|. Every array that an implementation may store on the way
   (scaled query, scaled key, product, scaled product, product in another base for exp2, biased score, converted
   bias, scale) costs one rounding u_s relative to the magnitude |scale|·|q||k| + |bias|: ROUNDINGS of them; a softcap
   (division, tanh to 4 units, product) CAP_ROUNDINGS more, and has slope ≤ 1. Subtracting the row maximum and the
   block maxima of online softmax costs 2u_s·|s − max|: block maxima only grow, so their steps add up to no more.
   Whoever subtracts another upper bound takes one no larger than R = |scale|·‖q‖·max‖k‖ + max bias, for u_s·R;
   what the exponentials then lose to underflow is not granted.
2. Weights. The weights of the computed scores are p_j·exp(e_j)/Σ_k p_k·exp(e_k). They are largest at e = (δ_j, −δ
   elsewhere), by less than p_j·expm1(δ_j − log Σ p·exp(−δ)), and smallest at the reverse, by less than
   −p_j·expm1(−δ_j − log Σ p·exp(δ)): either may be the further one. They stay within 0 and 1, so 1 is enough.
   Exponential, sum, quotient, rescaling between blocks (at most one a key) add γ_{2S+16} and storing adds 4u_s.
3. Output. Weight errors times |V|, and the second sum: (γ_{2S+16} + 4u_s + u)·(p|V|).
4. Log-sum-exp. |log Σ p·exp(e)| is at most the larger of log Σ p·exp(δ) and −log Σ p·exp(−δ), and that at most max δ.
   Relative errors of the sum, γ_{2S+16} + 4u_s, are absolute here; the logarithm, the maximum (or R) and their sum are
   rounded too.
5. Gradients. The same steps through dP = dO·Vᵀ, D = Σ P∘dP (or dO·O), dS = P∘(dP − D), with the weights either
   kept or recomputed as exp(s − LSE) from other roundings of s, which is off by the error of the LSE twice.

Underflow adds the smallest number that the storage of scores and weights, that of what is returned, and for each term
of a sum the accumulator, distinguishes from zero.
The bound is infinite where no convention determines the answer; for a row in which a dot product overflows the type
that scores are declared to be stored in; for its gradients also where exp(s − LSE) may overflow and where the output
is NaN by convention. It is never NaN. Each u has the oracle's own 2⁻⁵³ added.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnspec.specs.oracle import LN2, Floats, Solution
from attnspec.specs.problem import Array, numpy_dtype
from attnspec.specs.unlocked import cached_property

Booleans = NDArray[np.bool_]

UNIT_ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}

ROUNDINGS = 8
CAP_ROUNDINGS = 6

LARGEST_EXPONENT = 80.0
"""exp overflows beyond 88 in single precision."""


def _limits(dtype: str) -> Any:
    import ml_dtypes

    return ml_dtypes.finfo(numpy_dtype(dtype))  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Precision:
    """Unit roundoffs of the output (u), the accumulators (u_a), stored scores and weights (u_s) and the LSE."""

    output: float
    accumulator: float
    stored: float
    lse: float
    smallest: float
    """What storing scores and weights may lose to underflow."""
    returned: float
    """What storing what is returned loses beyond that, in a narrower dtype."""
    faintest: float
    """What a term of a sum may lose to underflow."""
    largest: float
    """What stored scores must not exceed."""

    @staticmethod
    @lru_cache
    def of(dtype: str, intermediate: str, flushes_subnormals: bool = False) -> "Precision":
        """For inputs of ``dtype`` under the convention intermediate_dtype = ``intermediate``.

        "input": scores and weights are stored in the inputs' dtype, sums kept in float32 at least; "float32": both
        are float32 at least; "at-most-float32": like "input", but float64 is computed in float32.
        """
        unit, oracle = UNIT_ROUNDOFF[dtype], UNIT_ROUNDOFF["float64"]
        wide = dtype == "float64" and intermediate != "at-most-float32"
        single = unit if wide else UNIT_ROUNDOFF["float32"]
        in_single = intermediate == ("at-most-float32" if dtype == "float64" else "float32")
        stored = "float32" if in_single else dtype
        narrowest = stored if dtype == "float64" else dtype
        kind = "smallest_normal" if flushes_subnormals else "smallest_subnormal"
        smallest = float(getattr(_limits(stored), kind))
        return Precision(
            output=unit + oracle,
            accumulator=single + oracle,
            stored=UNIT_ROUNDOFF[stored] + oracle,
            lse=single + oracle,
            smallest=smallest,
            returned=float(getattr(_limits(narrowest), kind)) - smallest,
            faintest=float(getattr(_limits("float64" if wide else "float32"), kind)),
            largest=float(_limits(stored).max),
        )


def gamma(terms: int, unit: float) -> float:
    """γ_n = n·u/(1 − n·u), Higham eq. 3.4."""
    return terms * unit / (1 - terms * unit)


@lru_cache(maxsize=512)
def bound_of(solution: Solution, precision: Precision, values_may_overflow: bool = False) -> "Bound":
    """The bounds of a solution, computed piece by piece as they are asked for, and kept for a while."""
    return Bound(solution, precision, values_may_overflow)


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
    def lost(self) -> Booleans:
        """(B, Hq, L, 1): True for rows whose stored scores overflow, or that no convention determines."""
        s, largest = self.solution, self.precision.largest
        most = np.fmax.reduce(np.abs(s.products), axis=-1, initial=0.0) * max(1.0, abs(s.scale))
        beyond = most * (1 + self._relative) > largest
        return np.asarray(beyond | (np.abs(s.top) > largest) | s.undetermined)[..., None]

    @cached_property
    def _relative(self) -> float:
        """Error of a score relative to its magnitude."""
        key_dim = self.solution.problem.shape[5]
        stored = ROUNDINGS + (CAP_ROUNDINGS if self.solution.softcap else 0)
        return gamma(key_dim + 2, self.precision.accumulator) + stored * self.precision.stored

    @cached_property
    def _reach(self) -> Floats:
        """(B, Hq, L, 1): R, the largest upper bound of a row's maximum that one may subtract instead of it."""
        s = self.solution
        query, key = (np.sqrt((a * a).sum(-1)) for a in (s.query, s.key))
        reach = abs(s.scale) * query * np.where(s.seen, key[..., None, :], 0.0).max(-1, initial=0.0)
        if s.adds:
            added = np.where(s.seen, s.added, -np.inf).max(-1, initial=-np.inf)
            reach = reach + np.where(np.isfinite(added), np.abs(added), 0.0)
        return np.asarray(reach)[..., None]

    @cached_property
    def delta(self) -> Floats:
        """(B, Hq, L, S): the largest error of a score."""
        s, p = self.solution, self.precision
        below = np.where(s.seen, np.abs(s.logits - s.top[..., None]), 0.0)
        query, key = (p.smallest * (1 + abs(s.scale)) * np.abs(a).sum(-1) for a in (s.query, s.key))
        underflow = 4 * p.smallest + p.faintest * s.problem.shape[5]
        with np.errstate(over="ignore"):  # beside a bias of the lowest number
            row = p.stored * self._reach + (query + underflow)[..., None]
            error = self._relative * abs(s.scale) * self._dots + 2 * p.stored * below + row
            if s.adds:
                error = error + self._relative * np.where(np.isfinite(s.added), np.abs(s.added), 0.0)
            error = error + key[..., None, :]
        return np.where(self.lost, 0.0, error)

    @cached_property
    def _weights(self) -> Floats:
        """(B, Hq, L, S): the exact weights, 0 where they are NaN by convention."""
        return np.where(np.isnan(self.solution.weights), 0.0, self.solution.weights)

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
        s = self.solution
        weights = np.where(s.empty[..., None], 0.0, self._weights) if s.any_empty else self._weights
        most = np.where(s.seen, self.delta, 0.0).max(-1, initial=0.0)
        with np.errstate(over="ignore", divide="ignore"):
            up = _stretched(weights, s.log_weights, self.delta).sum(-1)
            down = (weights * np.expm1(-self.delta)).sum(-1)
            if "sinks" in s.problem.options:
                share, sink = self._sink
                most = np.maximum(most, sink)
                up, down = up + _share(share, sink), down + share * np.expm1(-sink)
            return np.minimum(np.log1p(up), most), np.maximum(np.log1p(np.maximum(down, -1.0)), -most)

    @cached_property
    def _sum_error(self) -> float:
        return gamma(2 * self.solution.problem.shape[4] + 16, self.precision.accumulator)

    @cached_property
    def stored_weights(self) -> Floats:
        """(B, Hq, L, S): the error of the weights that meet the values; 0 where hidden."""
        s, p, weights = self.solution, self.precision, self._weights
        up, down = (drift[..., None] for drift in self._drift)
        above = _stretched(weights, s.log_weights, self.delta - down)
        below = -weights * np.expm1(-self.delta - up)
        moved = np.minimum(np.maximum(above, below), 1.0)
        summed = self._sum_error + 4 * p.stored
        error = moved + summed * (weights + moved) + 2 * p.smallest
        error = np.where(s.seen, error, 0.0)
        return np.where(s.empty[..., None], summed * weights, error) if s.any_empty else error

    @cached_property
    def weights(self) -> Floats:
        """(B, Hq, L, S): the error of the returned weights; 0 where a key is hidden."""
        rounded = 2 * self.precision.output * (self._weights + self.stored_weights)
        rounded = rounded + np.where(self.stored_weights > 0, self.precision.returned, 0.0)
        return np.where(self.lost, np.inf, self.stored_weights + rounded)

    @cached_property
    def output(self) -> Floats:
        """(B, Hq, L, Dv)"""
        s, p, keys = self.solution, self.precision, self.solution.problem.shape[4]
        size = np.abs(s.value)
        carried = (self._weights + self.stored_weights) @ size
        error = self.stored_weights @ size + (self._sum_error + 4 * p.stored + p.output) * carried
        underflow: Floats | float = 4 * (p.smallest + p.returned) + keys * p.faintest
        if s.any_empty:
            blank = s.empty & (self._weights.sum(-1) == 0)
            underflow = np.where(blank, 0.0, underflow)[..., None]
        error = error + underflow
        if self.values_may_overflow:
            error = np.where(keys * size.max(-2, initial=0.0, keepdims=True) > p.largest, np.inf, error)
        return np.where(self.lost, np.inf, error)

    @cached_property
    def lse(self) -> Floats:
        """(B, Hq, L)"""
        s, p = self.solution, self.precision
        up, down = self._drift
        error = np.maximum(up, -down) + self._sum_error + 4 * p.stored
        with np.errstate(over="ignore"):
            sizes = np.where(s.empty, 0.0, np.abs(s.log_denominator) + np.abs(s.top))
            error = error + 2 * p.lse * (2 * sizes + self._reach[..., 0]) + 2 * p.stored * np.abs(s.top)
        overflows = np.abs(s.top) > LN2 * p.largest  # in base 2, if scores are kept in that for exp2
        return np.where(self.lost[..., 0] | overflows, np.inf, np.where(s.empty, 0.0, error))

    def gradients(self, cotangent: Array) -> tuple[Floats, Floats, Floats]:
        """The errors of (dquery, dkey, dvalue) of ⟨output, cotangent⟩."""
        s, p = self.solution, self.precision
        into_output = np.asarray(cotangent, np.float64)
        exact, slope = np.abs(s.score_gradient(into_output)), abs(s.scale) * s.cap_slope
        error = self._score_gradient(np.abs(into_output))
        if s.softcap:
            size, error = slope * exact, slope * error + self._slope_error * (exact + error)
        else:
            size, error = slope * exact, slope * error
        error = np.where(self._lost_backward, 0.0, error + 8 * p.stored * size)
        _, heads, kv_heads, queries, keys, *_ = s.problem.shape
        rows = queries * max(heads // max(kv_heads, 1), 1)
        dquery = _product(error, size, np.abs(s.key), keys, p)
        dkey = _product(_turned(error), _turned(size), np.abs(s.query), rows, p)
        again = np.where(self._lost_backward, 0.0, self._weights_again)
        dvalue = _product(_turned(again), _turned(self._weights), np.abs(into_output), rows, p)
        lost = self._lost_backward.any(axis=-2, keepdims=True)
        return (
            np.where(self._lost_backward, np.inf, dquery),
            s.per_kv_head(np.where(lost, np.inf, dkey)),
            s.per_kv_head(np.where(lost, np.inf, dvalue)),
        )

    @cached_property
    def _lost_backward(self) -> Booleans:
        """(B, Hq, L, 1): True for rows through which no gradient is determined."""
        overflows = (2 * self.lse > LARGEST_EXPONENT)[..., None] | np.isposinf(self.output).any(-1, keepdims=True)
        return np.asarray(self.lost | overflows | np.isnan(self.solution.weights).any(-1, keepdims=True))

    @property
    def _slope_error(self) -> Floats:
        """(B, Hq, L, S): the error of scale · (1 − tanh²), whose own slope is below 2/c."""
        s = self.solution
        assert s.softcap is not None
        return abs(s.scale) * (2 / s.softcap * self.delta + 8 * self.precision.stored)

    @cached_property
    def _weights_again(self) -> Floats:
        """(B, Hq, L, S): the error of weights recomputed from the log-sum-exp."""
        drift = np.expm1(np.where(self._lost_backward[..., 0], 0.0, 2 * self.lse))[..., None]
        weights = np.where(self.solution.empty[..., None], 0.0, self._weights + self.stored_weights)
        return np.asarray(self.stored_weights + drift * weights)

    def _score_gradient(self, into_output: Floats) -> Floats:
        """(B, Hq, L, S): the error of dS = P∘(dP − D), given |dO|."""
        s, p = self.solution, self.precision
        value_dim = s.problem.shape[6]
        size = into_output @ np.swapaxes(np.abs(s.value), -1, -2)
        roundings = gamma(value_dim + 2, p.accumulator)
        into_weights = (roundings + 2 * p.stored) * size + 2 * p.smallest + value_dim * p.faintest
        error = self._weights_again
        weights = self._weights + error
        summed = (weights * size).sum(-1, keepdims=True)
        through_output = (into_output * np.where(self._lost_backward, 0.0, self.output)).sum(-1, keepdims=True)
        roundings = roundings + self._sum_error + 4 * p.stored + p.output
        mean = (error * size + weights * into_weights).sum(-1, keepdims=True) + roundings * summed + through_output
        moved = weights * (into_weights + mean) + error * (size + summed)
        moved = moved + 4 * p.stored * weights * (size + summed) + 2 * p.smallest
        return np.where(s.seen, moved, 0.0)


def _stretched(weights: Floats, log_weights: Floats, delta: Floats) -> Floats:
    """p·expm1(δ), also where p underflows or δ is large."""
    small = delta < 0.5
    if small.all():
        return np.asarray(weights * np.expm1(delta))
    near = weights * np.expm1(np.where(small, delta, 0.0))
    with np.errstate(over="ignore"):
        far = np.exp(np.where(small, -np.inf, log_weights + delta))
    return np.where(small, near, far)


def _share(share: Floats, delta: Floats) -> Floats:
    """share·expm1(δ), 0 where there is no share."""
    with np.errstate(over="ignore"):
        return np.asarray(share * np.expm1(np.where(share > 0, delta, 0.0)))


def _turned(array: Floats) -> Floats:
    return np.swapaxes(array, -1, -2)


def _product(error: Floats, size: Floats, other: Floats, terms: int, p: Precision) -> Floats:
    """The error of a product of ``terms`` terms whose left factor is ``size`` ± ``error``."""
    relative = gamma(terms + 4, p.accumulator) + 4 * p.stored + 4 * p.output
    exact = (size + error) @ other
    underflow = 4 * p.smallest * (1 + other.sum(-2, keepdims=True)) + 4 * p.returned + terms * p.faintest
    return np.asarray(error @ other + relative * exact + underflow * (exact > 0))
