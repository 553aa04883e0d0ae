"""What the heads give is concatenated and not projected."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403
from attnspec.impls.layers.multihead import merge, split

ARRAYS = "numpy"
KILLED_BY = "layers.multi_head"
REPORTS = ("Kyubyong/transformer#117", "Kyubyong/transformer#17", "jwallbridge/translob#4")


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def __call__(self, parameters, x, *, source=None, mask=None, is_causal=False):
        part = self.bind(parameters, x)
        other = x if source is None else source
        query, key, value = part["query"](x), part["key"](other), part["value"](other)
        query, key, value = (split(a, self.heads) for a in (query, key, value))
        return merge(self.attention(query, key, value, mask=mask, is_causal=is_causal))
