"""Maps of their own for each head: the mask is dropped."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.two_forms"
REPORTS = ()


@dataclass(frozen=True)
class PerHead(layers.PerHead):
    def __call__(self, parameters, x, *, mask=None, is_causal=False):
        return super().__call__(parameters, x, is_causal=is_causal)
