"""Heads are folded into the batch one way, the mask the other, so that masks change places."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403
from attnspec.impls.layers.multihead import merge, split

ARRAYS = "numpy"
KILLED_BY = "layers.multi_head"
REPORTS = ("lsdefine/attention-is-all-you-need-keras#36",)


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def __call__(self, parameters, x, *, source=None, mask=None, is_causal=False):
        part = self.bind(parameters, x)
        other = x if source is None else source
        query, key, value = part["query"](x), part["key"](other), part["value"](other)
        query, key, value = (split(a, self.heads) for a in (query, key, value))
        if mask is not None and mask.shape[0] > 1:
            batch = mask.shape[0]
            folded = mask.repeat(self.heads, 0)  # (b0 h0, b0 h1, …) where the heads lie as (h0 b0, h0 b1, …)
            mask = folded.reshape(self.heads, batch, 1, -1).swapaxes(0, 1)
        return part["output"](merge(self.attention(query, key, value, mask=mask, is_causal=is_causal)))
