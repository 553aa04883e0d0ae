"""The definition of attention in float64: scores, weights, output, log-sum-exp and gradients.

Vaswani et al. 2017, "Attention Is All You Need", eq. 1, with the options of the contract in the contract's order.
Written as the definition reads and checked against mpmath in the tests; slow and plain on purpose.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnspec.specs.contract import default_conventions
from attnspec.specs.problem import Array, Problem, lifted
from attnspec.specs.unlocked import cached_property

Floats = NDArray[np.float64]
Conventions = Mapping[str, Any]

LN2 = float(np.log(2.0))


@dataclass(frozen=True, eq=False)
class Solution:
    """One problem under one set of conventions; every array has four axes, whatever the problem's rank."""

    problem: Problem
    conventions: Conventions

    @cached_property
    def query(self) -> Floats:
        """(B, Hq, L, Dk)"""
        return _float64(self.problem.query)

    @cached_property
    def key(self) -> Floats:
        """(B, Hq, S, Dk): each query head's own copy."""
        return _float64(self.problem.key)[:, self.kv_head]

    @cached_property
    def value(self) -> Floats:
        """(B, Hq, S, Dv): each query head's own copy."""
        return _float64(self.problem.value)[:, self.kv_head]

    @cached_property
    def kv_head(self) -> NDArray[np.intp]:
        """(Hq,): which key/value head each query head reads."""
        _, heads, kv_heads, *_ = self.problem.shape
        head = np.arange(heads)
        if self.conventions["gqa_map"] == "tiled":
            return head % max(kv_heads, 1)
        return head // max(heads // max(kv_heads, 1), 1)

    @cached_property
    def scale(self) -> float:
        """The factor on the dot products: 1/√Dk unless given."""
        given = self.problem.options.get("scale")
        key_dim = self.problem.shape[5]
        return float(given) if given is not None else 1 / float(np.sqrt(max(key_dim, 1)))

    @cached_property
    def position(self) -> Floats:
        """(L, S): i + offset − j, how far key j lies behind query i."""
        _, _, _, queries, keys, *_ = self.problem.shape
        offset = keys - queries if self.conventions["causal_alignment"] == "bottom-right" else 0
        return (np.arange(queries)[:, None] + offset - np.arange(keys)).astype(np.float64)

    @cached_property
    def products(self) -> Floats:
        """(B, Hq, L, S): QKᵀ."""
        return self.query @ np.swapaxes(self.key, -1, -2)

    @cached_property
    def scaled(self) -> Floats:
        """(B, Hq, L, S): scale · QKᵀ."""
        return self.scale * self.products

    @cached_property
    def added(self) -> Floats:
        """What broadcasts to (B, Hq, L, S): bias and ALiBi, which are added to the scores."""
        options = self.problem.options
        added = np.zeros((1, 1, 1, 1))
        if "bias" in options:
            added = added + _float64(options["bias"])
        if "alibi_slopes" in options:
            slopes = np.asarray(options["alibi_slopes"], np.float64)
            added = added - slopes[:, None, None] * np.abs(self.position)
        return added

    @property
    def softcap(self) -> float | None:
        """c of c·tanh(score/c), or None."""
        cap = self.problem.options.get("softcap")
        return float(cap) if cap else None

    @cached_property
    def scores(self) -> Floats:
        """(B, Hq, L, S): what the softmax sees where a key is visible."""
        if self.softcap is None:
            return self.scaled + self.added
        if self.conventions["softcap_order"] == "after-bias":
            return np.where(np.isneginf(self.added), -np.inf, _cap(self.scaled + self.added, self.softcap))
        return _cap(self.scaled, self.softcap) + self.added

    @cached_property
    def visible(self) -> NDArray[np.bool_]:
        """(B, Hq, L, S): which keys each query may attend to, −inf bias aside."""
        options = self.problem.options
        visible = np.ones(self.scaled.shape, bool)
        if "mask" in options:
            visible &= lifted(options["mask"])
        if options.get("is_causal"):
            visible &= self.position >= 0
        if "window" in options:
            visible &= in_window(self.position, options["window"], self.conventions["window"])
        if "key_lengths" in options:
            lengths = np.asarray(options["key_lengths"]).reshape(-1, 1, 1, 1)
            visible &= np.arange(self.problem.shape[4]) < lengths
        if "query_segments" in options:
            query = np.atleast_2d(options["query_segments"])[:, None, :, None]
            key = np.atleast_2d(options["key_segments"])[:, None, None, :]
            visible &= query == key
        return visible

    @cached_property
    def logits(self) -> Floats:
        """(B, Hq, L, S): the scores, −inf where hidden."""
        return np.where(self.visible, self.scores, -np.inf)

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """(B, Hq, L, S): which keys count, those with a finite logit: visible, and no bias of −inf."""
        return np.isfinite(self.logits)

    @cached_property
    def largest(self) -> Floats:
        """(B, Hq, L): the largest logit of each row's keys, −inf without any."""
        return np.asarray(np.max(self.logits, axis=-1, initial=-np.inf))

    @cached_property
    def adds(self) -> bool:
        """Whether anything but zeros is added to the scores."""
        return bool(self.added.any())

    @cached_property
    def sinks(self) -> Floats:
        """(Hq, 1): each head's sink logit, −inf without sinks."""
        heads = self.problem.shape[1]
        sinks = self.problem.options.get("sinks")
        return np.full((heads, 1), -np.inf) if sinks is None else np.asarray(sinks, np.float64).reshape(heads, 1)

    @cached_property
    def top(self) -> Floats:
        """(B, Hq, L): the largest logit of each row, 0 in an empty one."""
        top = np.maximum(self.largest, self.sinks) if "sinks" in self.problem.options else self.largest
        return np.where(np.isfinite(top), top, 0.0)

    @cached_property
    def empty(self) -> NDArray[np.bool_]:
        """(B, Hq, L): rows without a finite logit, sinks included."""
        some = np.isfinite(self.largest)
        if "sinks" in self.problem.options:
            some = some | np.isfinite(self.sinks)
        return np.asarray(~some, bool)

    @cached_property
    def any_empty(self) -> bool:
        """Whether there is an empty row."""
        return bool(self.empty.any())

    @cached_property
    def emptied_by_bias(self) -> NDArray[np.bool_]:
        """(B, Hq, L): empty rows in which every key is visible and every bias is −inf."""
        return np.asarray(self.empty & self.visible.all(axis=-1) & (self.visible.shape[-1] > 0), bool)

    @cached_property
    def undetermined(self) -> NDArray[np.bool_]:
        """(B, Hq, L): rows in which no convention says what comes.

        Those emptied by a mask and −inf bias together, where the two conventions differ, and under "nan" those of
        S = 0, where 0/0 is NaN but a sum over nothing 0.
        """
        if not self.any_empty:
            return self.empty
        differ = self.conventions["empty_row"] != self.conventions["empty_row_bias"]
        some = self.visible.any(axis=-1) & ~self.visible.all(axis=-1)
        keyless = self.visible.shape[-1] == 0 and self.conventions["empty_row"] == "nan"
        return np.asarray(self.empty & ((some & differ) | keyless), bool)

    @cached_property
    def log_weights(self) -> Floats:
        """(B, Hq, L, S): log-softmax; −inf throughout an empty row."""
        with np.errstate(invalid="ignore"):
            log_weights = self.logits - self.log_denominator[..., None]
        return np.where(self.empty[..., None], -np.inf, log_weights) if self.any_empty else log_weights

    @cached_property
    def log_denominator(self) -> Floats:
        """(B, Hq, L): log Σ exp(logits), sinks counted; −inf in an empty row."""
        with np.errstate(divide="ignore"):
            total = np.exp(self.logits - self.top[..., None]).sum(-1)
            if "sinks" in self.problem.options:
                total = total + np.exp(self.sinks - self.top)
            return np.asarray(np.log(total) + self.top)

    @cached_property
    def weights(self) -> Floats:
        """(B, Hq, L, S): the softmax, empty rows by convention."""
        weights = np.exp(self.log_weights)
        if self.any_empty:
            weights[self.empty] = _empty_weight(self.conventions["empty_row"], weights.shape[-1])
            weights[self.emptied_by_bias] = _empty_weight(self.conventions["empty_row_bias"], weights.shape[-1])
        return weights

    @cached_property
    def output(self) -> Floats:
        """(B, Hq, L, Dv): weights · V."""
        output = self.weights @ self.value
        if self.weights.shape[-1] == 0 and self.conventions["empty_row"] == "nan":
            output[self.empty] = np.nan
        return output

    @cached_property
    def lse(self) -> Floats:
        """(B, Hq, L): natural log of the softmax's denominator; empty rows by convention ("lowest" reads as −inf)."""
        value = 0.0 if self.conventions["empty_row_lse"] == "zero" else -np.inf
        return np.where(self.empty, value, self.log_denominator)

    def score_gradient(self, cotangent: Floats) -> Floats:
        """(B, Hq, L, S): d⟨output, cotangent⟩ / d scores = P ∘ (dP − Σ P ∘ dP); 0 in an empty row."""
        into_weights = cotangent @ np.swapaxes(self.value, -1, -2)
        mean = (self.weights * into_weights).sum(-1, keepdims=True)
        return np.where(self.empty[..., None], 0.0, self.weights * (into_weights - mean))

    @cached_property
    def cap_slope(self) -> Floats:
        """(B, Hq, L, S): d scores / d scaled = 1 − tanh², or 1 without softcap."""
        if self.softcap is None:
            return np.ones(self.scaled.shape)
        inner = self.scaled + (self.added if self.conventions["softcap_order"] == "after-bias" else 0.0)
        return 1 - np.tanh(inner / self.softcap) ** 2

    def gradients(self, cotangent: Array) -> tuple[Floats, Floats, Floats]:
        """(dquery, dkey, dvalue) of ⟨output, cotangent⟩, cotangent (B, Hq, L, Dv); each like its input, four axes."""
        into_output = _float64(cotangent)
        into_scaled = self.scale * self.cap_slope * self.score_gradient(into_output)
        dquery = into_scaled @ self.key
        dkey = np.swapaxes(into_scaled, -1, -2) @ self.query
        dvalue = np.swapaxes(self.weights, -1, -2) @ into_output
        return dquery, self.per_kv_head(dkey), self.per_kv_head(dvalue)

    def per_kv_head(self, per_head: Floats) -> Floats:
        """(B, Hkv, …): sums over the query heads that share a key/value head."""
        batch, _, kv_heads, *_ = self.problem.shape
        summed = np.zeros((batch, kv_heads, *per_head.shape[2:]))
        for head in range(kv_heads):
            summed[:, head] = per_head[:, self.kv_head == head].sum(1)
        return summed


def _float64(array: Array) -> Floats:
    return np.asarray(lifted(array), np.float64)


def _cap(scores: Floats, cap: float) -> Floats:
    return cap * np.tanh(scores / cap)


def in_window(behind: Array, window: tuple[int | None, int | None], convention: str) -> NDArray[np.bool_]:
    """Which keys lie within the window, from how far each is behind its query."""
    left, right = window
    inside = np.ones(behind.shape, bool)
    if left is not None:
        inside &= behind <= (left - 1 if convention == "count" else left)
    if right is not None:
        inside &= behind >= -right
    return inside


def _empty_weight(convention: str, keys: int) -> float:
    return {"zero": 0.0, "mean": 1 / max(keys, 1), "nan": np.nan}[convention]


def solve(problem: Problem, conventions: Conventions | None = None) -> Solution:
    """The exact answer to ``problem``, computed piece by piece as it is asked for, and kept for a while."""
    return _solved(problem, tuple((conventions or default_conventions()).items()))


@lru_cache(maxsize=512)
def _solved(problem: Problem, conventions: tuple[tuple[str, Any], ...]) -> Solution:
    return Solution(problem, dict(conventions))
