"""A decoder layer drops nothing but between the maps of its feed-forward layer."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.dropout_places"
REPORTS = ()


@dataclass(frozen=True)
class DecoderLayer(layers.DecoderLayer):
    def __call__(self, parameters, x, memory, *, mask=None, memory_mask=None, seed=None):
        return super().__call__(parameters, x, memory, mask=mask, memory_mask=memory_mask)
