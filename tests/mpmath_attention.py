"""Attention by its definition, element by element, with 50 digits; shares no code with the suite's own oracle.

Every number is looked up by its index, every sum is a loop, no row maximum is subtracted (exponents are unbounded
here), hidden keys are never read, and derivatives are difference quotients of the definition itself.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np

mp = mpmath.MPContext()
mp.dps = 50

STEP = mp.mpf(10) ** -40
"""Of the difference quotients, which are taken with 150 digits: truncation costs about 1e-80, cancellation 1e-110."""


class Undetermined(Exception):
    """A row emptied by a mask and a −inf bias together, where the two conventions differ."""


class Exact:
    """One problem under one set of conventions. Indices: b batch, h query head, i query, j key, d dimension."""

    def __init__(self, problem: Any, conventions: dict[str, Any]) -> None:
        self.options, self.conventions = dict(problem.options), conventions
        self.query, self.key, self.value = (_numbers(a) for a in (problem.query, problem.key, problem.value))
        self.rank = problem.query.ndim
        self.batch, self.heads, self.queries, self.key_dim = _sizes(problem.query)
        _, self.kv_heads, self.keys, self.value_dim = _sizes(problem.value)
        self.offset = self.keys - self.queries if conventions["causal_alignment"] == "bottom-right" else 0

    def kv_head(self, h: int) -> int:
        """Which key/value head query head h reads."""
        if self.conventions["gqa_map"] == "tiled":
            return h % self.kv_heads
        return h // (self.heads // self.kv_heads)

    def scale(self) -> Any:
        given = self.options.get("scale")
        if given is not None:
            return mp.mpf(given)
        return 1 / mp.sqrt(self.key_dim) if self.key_dim else mp.mpf(0)

    def capped(self, score: Any) -> Any:
        cap = self.options.get("softcap")
        if cap is None or cap == 0:
            return score
        return mp.mpf(cap) * mp.tanh(score / mp.mpf(cap))

    def broadcast(self, name: str, b: int, h: int, i: int, j: int) -> Any:
        """The element of a mask or bias for (b, h, i, j): trailing axes meet, an axis of 1 serves all."""
        array = self.options[name]
        wanted = (b, h, i, j)[4 - array.ndim :]
        return array[tuple(0 if size == 1 else at for size, at in zip(array.shape, wanted, strict=True))]

    def added(self, b: int, h: int, i: int, j: int) -> Any:
        """Bias and ALiBi."""
        total = mp.mpf(0)
        if "bias" in self.options:
            total += _number(self.broadcast("bias", b, h, i, j))
        if "alibi_slopes" in self.options:
            total -= _number(self.options["alibi_slopes"][h]) * abs(i + self.offset - j)
        return total

    def score(self, b: int, h: int, i: int, j: int) -> Any:
        """Scale, softcap, then bias and ALiBi; or the softcap last."""
        g, dot = self.kv_head(h), mp.mpf(0)
        for d in range(self.key_dim):
            dot += self.query[b, h, i, d] * self.key[b, g, j, d]
        if self.conventions["softcap_order"] == "after-bias":
            return self.capped(self.scale() * dot + self.added(b, h, i, j))
        return self.capped(self.scale() * dot) + self.added(b, h, i, j)

    def unmasked(self, b: int, h: int, i: int, j: int) -> bool:
        """Whether every option but the bias lets query i see key j."""
        options = self.options
        if "mask" in options and not self.broadcast("mask", b, h, i, j):
            return False
        if options.get("is_causal") and j > i + self.offset:
            return False
        if "window" in options:
            left, right = options["window"]
            if left is not None and self.conventions["window"] == "count":
                left = left - 1
            if left is not None and j < i + self.offset - left:
                return False
            if right is not None and j > i + self.offset + right:
                return False
        if "key_lengths" in options and j >= self.per_sample("key_lengths", b):
            return False
        if "query_segments" in options:
            return bool(self.per_sample("query_segments", b)[i] == self.per_sample("key_segments", b)[j])
        return True

    def per_sample(self, name: str, b: int) -> Any:
        return self.options[name][b] if self.rank == 4 else self.options[name]

    def hidden_by_bias(self, b: int, h: int, i: int, j: int) -> bool:
        return "bias" in self.options and _number(self.broadcast("bias", b, h, i, j)) == mp.ninf

    def row(self, b: int, h: int, i: int) -> tuple[list[Any], list[Any], Any]:
        """(weights over S, output over Dv, log-sum-exp) of one query."""
        unmasked = [j for j in range(self.keys) if self.unmasked(b, h, i, j)]
        seen = [j for j in unmasked if not self.hidden_by_bias(b, h, i, j)]
        exponentials = {j: mp.exp(self.score(b, h, i, j)) for j in seen}
        denominator = mp.mpf(0)
        for j in seen:
            denominator += exponentials[j]
        if "sinks" in self.options:
            denominator += mp.exp(_number(self.options["sinks"][h]))
        if not seen and "sinks" not in self.options:
            return self.empty_row(b, h, unmasked)
        weights = [exponentials[j] / denominator if j in exponentials else mp.mpf(0) for j in range(self.keys)]
        return weights, self.mixed(b, h, weights, seen), mp.log(denominator)

    def empty_row(self, b: int, h: int, unmasked: list[int]) -> tuple[list[Any], list[Any], Any]:
        """A row that sees nothing, by convention."""
        by_mask, by_bias = self.conventions["empty_row"], self.conventions["empty_row_bias"]
        if unmasked and len(unmasked) < self.keys and by_mask != by_bias:
            raise Undetermined
        convention = by_bias if unmasked else by_mask
        lse = mp.mpf(0) if self.conventions["empty_row_lse"] == "zero" else mp.ninf
        if convention == "nan":
            return [mp.nan] * self.keys, [mp.nan] * self.value_dim, lse
        weight = mp.mpf(1) / self.keys if convention == "mean" and self.keys else mp.mpf(0)
        weights = [weight] * self.keys
        return weights, self.mixed(b, h, weights, range(self.keys) if weight else ()), lse

    def mixed(self, b: int, h: int, weights: list[Any], keys: Any) -> list[Any]:
        """The weighted sum of the values of ``keys``."""
        g, output = self.kv_head(h), []
        for d in range(self.value_dim):
            total = mp.mpf(0)
            for j in keys:
                total += weights[j] * self.value[b, g, j, d]
            output.append(total)
        return output

    def rows(self) -> Iterator[tuple[int, int, int]]:
        return itertools.product(range(self.batch), range(self.heads), range(self.queries))

    def determined(self) -> np.ndarray:
        """(B, Hq, L): the rows whose answer the conventions determine."""
        determined = np.ones((self.batch, self.heads, self.queries), bool)
        for index in self.rows():
            try:
                self.row(*index)
            except Undetermined:
                determined[index] = False
        return determined

    def solve(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(weights (B, Hq, L, S), output (B, Hq, L, Dv), lse (B, Hq, L)), rounded to float64 once."""
        axes = (self.batch, self.heads, self.queries)
        weights, output, lse = np.zeros((*axes, self.keys)), np.zeros((*axes, self.value_dim)), np.zeros(axes)
        for index in self.rows():
            try:
                row = self.row(*index)
            except Undetermined:
                row = [mp.nan] * self.keys, [mp.nan] * self.value_dim, mp.ninf
            weights[index], output[index] = [float(w) for w in row[0]], [float(o) for o in row[1]]
            lse[index] = float(row[2])
        return weights, output, lse

    def derivative(self, cotangent: np.ndarray, name: str, index: tuple[int, int, int, int]) -> float:
        """d⟨output, cotangent⟩ / d element: the central difference quotient, over the rows that read the element."""
        numbers, there = getattr(self, name), getattr(self, name)[index]
        with mp.workdps(150):
            numbers[index] = there + STEP
            above = self.loss(cotangent, name, index)
            numbers[index] = there - STEP
            below = self.loss(cotangent, name, index)
            numbers[index] = there
            return float((above - below) / (2 * STEP))

    def loss(self, cotangent: np.ndarray, name: str, index: tuple[int, int, int, int]) -> Any:
        b, head, at, _ = index
        total = mp.mpf(0)
        for h in range(self.heads):
            if (head != h) if name == "query" else (head != self.kv_head(h)):
                continue
            for i in (at,) if name == "query" else range(self.queries):
                _, output, _ = self.row(b, h, i)
                for d in range(self.value_dim):
                    total += output[d] * _number(cotangent[b, h, i, d])
        return total


def _number(element: Any) -> Any:
    return mp.mpf(float(element))


def _sizes(array: np.ndarray) -> tuple[int, ...]:
    return (1,) * (4 - array.ndim) + array.shape


def _numbers(array: np.ndarray) -> dict[tuple[int, ...], Any]:
    """Every element by its four indices."""
    missing = (0,) * (4 - array.ndim)
    return {missing + index: _number(array[index]) for index in np.ndindex(array.shape)}
