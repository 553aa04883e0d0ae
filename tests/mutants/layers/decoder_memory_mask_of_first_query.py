"""All target tokens read the source by the mask of the first."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.decoder_masks"
REPORTS = ()


@dataclass(frozen=True)
class DecoderLayer(layers.DecoderLayer):
    def __call__(self, parameters, x, memory, *, memory_mask=None, **options):
        first = None if memory_mask is None else memory_mask[..., :1, :]
        return super().__call__(parameters, x, memory, memory_mask=first, **options)
