"""Attention in NumPy as a chain of steps. A mutant replaces one of them and leaves the rest right.

Shapes: B batch, Hq query heads, Hkv key/value heads, L queries, S keys, D key and Dv value dimension.
"""

import math

import numpy as np

from attnspec.mutants.correct._checks import check

ARRAYS = "numpy"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}


class Steps:
    """One call: query (B, Hq, L, D), key (B, Hkv, S, D), value (B, Hkv, S, Dv), at least float32, and its options."""

    UNCHECKED = ()
    """Names of checks that are left out."""

    @classmethod
    def attention(
        cls,
        query,
        key,
        value,
        *,
        mask=None,
        bias=None,
        is_causal=False,
        scale=None,
        softcap=None,
        window=None,
        alibi_slopes=None,
        sinks=None,
        key_lengths=None,
        query_segments=None,
        key_segments=None,
        return_weights=False,
        return_lse=False,
    ):
        options = {"mask": mask, "bias": bias, "is_causal": is_causal, "scale": scale, "softcap": softcap}
        options |= {"window": window, "alibi_slopes": alibi_slopes, "sinks": sinks, "key_lengths": key_lengths}
        options |= {"query_segments": query_segments, "key_segments": key_segments}
        options |= {"return_weights": return_weights, "return_lse": return_lse}
        check(query, key, value, options, cls.UNCHECKED)
        with np.errstate(all="ignore"):
            return cls(query, key, value, options).run()

    def __init__(self, query, key, value, options):
        self.__dict__ |= options
        self.dtype, self.lead = query.dtype, query.shape[:-2]
        self.query, self.key, self.value = map(self.lifted, (query, key, value))
        self.shape = (*self.query.shape[:3], self.key.shape[2])  # (B, Hq, L, S)

    def run(self):
        visible = self.visible()
        weights, lse = self.softmax(self.added(self.capped(self.scores())), visible)
        return self.finish(self.weighted(weights, visible), weights, lse)

    def lifted(self, array):
        high = np.promote_types(array.dtype, np.float32)
        return array.astype(high).reshape((1,) * (4 - array.ndim) + array.shape)

    def per_query_head(self, array):
        return np.repeat(array, self.shape[1] // max(array.shape[1], 1), axis=1)

    def default_scale(self):
        return 1 / math.sqrt(self.query.shape[3] or 1)

    def scores(self):
        factor = self.default_scale() if self.scale is None else self.scale
        return factor * (self.query @ self.per_query_head(self.key).swapaxes(2, 3))  # (B, Hq, L, S)

    def capped(self, scores):
        return self.softcap * np.tanh(scores / self.softcap) if self.softcap else scores

    def added(self, scores):
        if self.bias is not None:
            scores = scores + self.bias.astype(scores.dtype)
        if self.alibi_slopes is not None:
            slopes = self.alibi_slopes.astype(scores.dtype)[:, None, None]
            scores = scores - slopes * self.distance().astype(scores.dtype)
        return scores

    def offset(self):
        return 0

    def behind(self):
        """(L, S): how far key j lies behind query i."""
        return np.arange(self.shape[2])[:, None] + self.offset() - np.arange(self.shape[3])

    def distance(self):
        """(L, S): what an ALiBi slope is multiplied with."""
        return np.abs(self.behind())

    def visible(self):
        """(B, Hq, L, S): no option hides the key from the query."""
        ways = (self.by_mask, self.by_bias, self.by_causality, self.by_window, self.by_length, self.by_segment)
        visible = np.ones(self.shape, bool)
        for way in ways:
            visible &= way()
        return visible

    def by_mask(self):
        return np.True_ if self.mask is None else self.mask

    def by_bias(self):
        return np.True_ if self.bias is None else self.bias != -np.inf

    def by_causality(self):
        return self.behind() >= 0 if self.is_causal else np.True_

    def by_window(self):
        left, right = self.window or (None, None)
        behind, inside = self.behind(), np.True_
        inside = inside if left is None else inside & (behind <= left)
        return inside if right is None else inside & (behind >= -right)

    def by_length(self):
        if self.key_lengths is None:
            return np.True_
        return np.arange(self.shape[3]) < self.key_lengths.reshape(-1, 1, 1, 1)

    def by_segment(self):
        if self.query_segments is None:
            return np.True_
        query, key = np.atleast_2d(self.query_segments), np.atleast_2d(self.key_segments)
        return query[:, None, :, None] == key[:, None, None, :]

    def softmax(self, scores, visible):
        """Weights (B, Hq, L, S) and the log of the denominator (B, Hq, L); an empty row has 0 and -inf."""
        logits = np.where(visible, scores, -np.inf)
        top = self.top(logits)
        shift = np.where(np.isneginf(top), 0, top)
        terms = np.exp(logits - shift)
        total = terms.sum(3, keepdims=True) + self.sink_term(shift)
        weights = terms / np.where(total == 0, 1, total)
        return weights, (np.log(total) + shift)[..., 0]

    def top(self, logits):
        """(B, Hq, L, 1): the largest logit of each row, sinks counted."""
        sinks = -np.inf if self.sinks is None else self.sinks.astype(logits.dtype)[:, None, None]
        return np.maximum(logits.max(3, keepdims=True, initial=-np.inf), sinks)

    def sink_term(self, shift):
        return 0 if self.sinks is None else np.exp(self.sinks.astype(shift.dtype)[:, None, None] - shift)

    def weighted(self, weights, visible):
        """(B, Hq, L, Dv): NaN and Inf among the values reach only the queries that see them."""
        value = self.per_query_head(self.value)
        odd = ~np.isfinite(value)
        seen = visible.astype(value.dtype) @ odd.astype(value.dtype) > 0
        return np.where(seen, np.nan, weights @ np.where(odd, 0, value))

    def finish(self, output, weights, lse):
        """The results asked for, in the inputs' dtype and rank."""
        results = [output.astype(self.dtype)]
        results += [weights.astype(self.dtype)] if self.return_weights else []
        results += [lse] if self.return_lse else []
        results = [result.reshape(self.lead + result.shape[2:]) for result in results]
        return tuple(results) if len(results) > 1 else results[0]


attention = Steps.attention
