"""The memory is detached, so that the encoder does not learn."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "torch"
KILLED_BY = "layers.gradient"
REPORTS = ()


@dataclass(frozen=True)
class DecoderLayer(layers.DecoderLayer):
    def __call__(self, parameters, x, memory, **options):
        return super().__call__(parameters, x, memory.detach(), **options)
