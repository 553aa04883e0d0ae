"""Attention in PyTorch as a chain of steps: differentiable, compilable, mappable. A mutant replaces one of them.

Shapes: B batch, Hq query heads, Hkv key/value heads, L queries, S keys, D key and Dv value dimension.
"""

import math

import torch

from attnspec.mutants.correct._checks import check

ARRAYS = "torch"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}


class Steps:
    """One call: query (B, Hq, L, D), key (B, Hkv, S, D), value (B, Hkv, S, Dv), at least float32, and its options."""

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
        return_weights=False,
        return_lse=False,
    ):
        check(query, key, value, {"mask": mask, "bias": bias})
        call = cls()
        call.mask, call.bias, call.is_causal, call.scale, call.softcap = mask, bias, is_causal, scale, softcap
        call.return_weights, call.return_lse = return_weights, return_lse
        return call.run(query, key, value)

    def run(self, query, key, value):
        self.dtype, self.lead = query.dtype, query.shape[:-2]
        self.query, self.key, self.value = (self.lifted(array) for array in (query, key, value))
        self.shape = (*self.query.shape[:3], self.key.shape[2])  # (B, Hq, L, S)
        visible = self.visible()
        weights, lse = self.softmax(self.added(self.capped(self.scores())), visible)
        return self.finish(self.weighted(weights, visible), weights, lse)

    def lifted(self, array):
        high = torch.promote_types(array.dtype, torch.float32)
        return array.to(high).reshape((1,) * (4 - array.ndim) + array.shape)

    def per_query_head(self, array):
        return array.repeat_interleave(self.shape[1] // max(array.shape[1], 1), dim=1)

    def scores(self):
        """(B, Hq, L, S): NaN with a key that is not finite, which itself stays out of the product."""
        factor = 1 / math.sqrt(self.query.shape[3] or 1) if self.scale is None else self.scale
        key = self.per_query_head(self.key)
        odd = ~key.isfinite()
        scores = factor * (self.query @ key.masked_fill(odd, 0).mT)
        return scores.masked_fill(odd.any(3)[:, :, None], math.nan)

    def capped(self, scores):
        return self.softcap * torch.tanh(scores / self.softcap) if self.softcap else scores

    def added(self, scores):
        return scores if self.bias is None else scores + self.bias.to(scores)

    def visible(self):
        """(B, Hq, L, S)"""
        rows, columns = (torch.arange(n, device=self.query.device) for n in self.shape[2:])
        visible = torch.ones(self.shape, dtype=torch.bool, device=self.query.device)
        if self.mask is not None:
            visible = visible & self.mask
        if self.bias is not None:
            visible = visible & (self.bias != -math.inf)
        return visible & (columns <= rows[:, None]) if self.is_causal else visible

    def softmax(self, scores, visible):
        """Weights (B, Hq, L, S) and log-sum-exp (B, Hq, L); one more column keeps an empty row from 0/0."""
        empty = ~visible.any(3, keepdim=True)
        spare = torch.where(empty, 0, -math.inf).to(scores)
        logits = torch.cat([scores.masked_fill(~visible, -math.inf), spare], 3)
        return logits.softmax(3)[..., :-1], logits.logsumexp(3).masked_fill(empty[..., 0], -math.inf)

    def weighted(self, weights, visible):
        """(B, Hq, L, Dv): NaN and Inf among the values reach only the queries that see them."""
        value = self.per_query_head(self.value)
        odd = ~value.isfinite()
        seen = visible.to(value) @ odd.to(value) > 0
        return (weights @ value.masked_fill(odd, 0)).masked_fill(seen, math.nan)

    def finish(self, output, weights, lse):
        """The results asked for, in the inputs' dtype and rank."""
        results = [output.to(self.dtype)]
        results += [weights.to(self.dtype)] if self.return_weights else []
        results += [lse] if self.return_lse else []
        results = [result.reshape(self.lead + result.shape[2:]) for result in results]
        return tuple(results) if len(results) > 1 else results[0]


attention = Steps.attention
