"""A decoder takes no notice of the mask of its own tokens."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.decoder_masks"
REPORTS = ()


@dataclass(frozen=True)
class DecoderLayer(layers.DecoderLayer):
    def __call__(self, parameters, x, memory, *, mask=None, memory_mask=None, seed=None):
        return super().__call__(parameters, x, memory, memory_mask=memory_mask, seed=seed)
