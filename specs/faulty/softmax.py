"""The softmax over other axes or other numbers, empty rows, the log-sum-exp, NaN and infinities."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnspec.specs.faulty.registry import Change, fault, finite
from attnspec.specs.oracle import Conventions, Floats, Solution
from attnspec.specs.problem import Problem, largest_number

# softmax and log-sum-exp


def _along(axis: int) -> type[Solution]:
    class Along(Solution):
        @cached_property
        def weights(self) -> Floats:
            top = self.logits.max(axis, keepdims=True, initial=-1e300)
            terms = np.exp(self.logits - top)
            return np.asarray(terms / terms.sum(axis, keepdims=True))

    return Along


fault("softmax-over-queries", "the softmax runs over the queries", "F1")(_along(-2))
fault("softmax-over-samples", "the softmax runs over the samples", "F3")(_along(0))


@fault("maximum-starts-at-zero", "the running maximum starts at 0, so that low scores all underflow", "F5")
class _HighMaximum(Solution):
    @cached_property
    def top(self) -> Floats:
        return np.maximum(super().top, 0.0)


@fault("maximum-not-subtracted", "exponentials overflow, for no maximum is subtracted")
class _NoMaximum(Solution):
    @cached_property
    def log_denominator(self) -> Floats:
        single = "float64" if self.problem.dtype == "float64" else "float32"
        beyond = self.logits.max(-1, initial=-np.inf) > np.log(largest_number(single))
        return np.where(beyond, np.nan, super().log_denominator)


@fault("half-scores-overflow", "products beyond the range of the inputs' dtype become infinite", "K2", "K3", "K4")
class _HalfScores(Solution):
    @cached_property
    def scaled(self) -> Floats:
        dots = self.query @ np.swapaxes(self.key, -1, -2)
        return self.scale * np.where(np.abs(dots) > largest_number(self.problem.dtype), np.inf * np.sign(dots), dots)


def _emptying(value: str) -> Change:
    return lambda p, c: {"empty_row": value, "empty_row_bias": value}


for _value, _what in (("zero", "0"), ("mean", "the mean of all values"), ("nan", "NaN")):
    _says = f"a query that sees no key gives {_what}"
    fault(f"empty-rows-{_value}", _says, "A2", "A7", "A8")(_emptying(_value))


@fault("empty-rows-see-all", "a query that sees no key sees all of them")
class _SeeAll(Solution):
    @cached_property
    def visible(self) -> NDArray[np.bool_]:
        visible = super().visible
        return visible | ~visible.any(-1, keepdims=True)


@fault("key-width-of-zero-gives-zeros", "a key width of 0 gives zeros", "H6")
class _ZeroWidth(Solution):
    @cached_property
    def output(self) -> Floats:
        return np.zeros_like(super().output) if self.problem.shape[5] == 0 else super().output


@fault("lse-of-base-two", "the log-sum-exp is a logarithm to base 2", "L6", "L7")
class _BaseTwo(Solution):
    @cached_property
    def lse(self) -> Floats:
        return np.asarray(super().lse / np.log(2.0))


@fault("lse-times-ln-two", "a natural log-sum-exp is multiplied by ln 2", "L4")
class _TimesLn2(Solution):
    @cached_property
    def lse(self) -> Floats:
        return np.asarray(super().lse * np.log(2.0))


@fault("lse-without-sinks", "the log-sum-exp leaves out the sinks")
class _LseWithoutSinks(Solution):
    @cached_property
    def lse(self) -> Floats:
        return Solution(self.problem.with_options(sinks=None), self.conventions).lse


@fault("weights-averaged", "the returned weights are averaged over the heads", "I8")
class _Averaged(Solution):
    @cached_property
    def output(self) -> Floats:
        return Solution(self.problem, self.conventions).output

    @cached_property
    def weights(self) -> Floats:
        return np.broadcast_to(super().weights.mean(1, keepdims=True), super().weights.shape)


# NaN and infinities


@fault("hidden-values-leak", "NaN and infinities of hidden values come through as 0·NaN", "D2", "D3")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p


@fault("hidden-keys-leak", "NaN and infinities of hidden keys come through", "D2", "D3")
class _KeysLeak(Solution):
    @cached_property
    def logits(self) -> Floats:
        return self.scores + np.where(self.visible, 0.0, -np.inf)


@fault("nan-swallowed", "NaN comes out as a number", "D4", "A9")
def _(p: Problem, c: Conventions) -> Problem | None:
    return finite(p)
