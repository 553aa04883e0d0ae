"""Features are split into heads by a reshape without transpose, along the sequence."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403
from attnspec.impls.layers.multihead import merge

ARRAYS = "numpy"
KILLED_BY = "layers.two_forms"
REPORTS = ("reczoo/FuxiCTR#30",)


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def __call__(self, parameters, x, *, source=None, mask=None, is_causal=False):
        part = self.bind(parameters, x)
        other = x if source is None else source
        query, key, value = part["query"](x), part["key"](other), part["value"](other)
        query, key, value = (a.reshape(a.shape[0], self.heads, a.shape[1], -1) for a in (query, key, value))
        return part["output"](merge(self.attention(query, key, value, mask=mask, is_causal=is_causal)))
