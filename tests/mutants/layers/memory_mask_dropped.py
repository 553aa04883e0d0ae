"""The decoder attends to the padding of the source."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.padded_source"
REPORTS = ("NVIDIA/FasterTransformer#270", "keras-team/keras-io#1046")


@dataclass(frozen=True)
class Transformer(layers.Transformer):
    def encode(self, parameters, source_ids, **options):
        memory, mask = super().encode(parameters, source_ids, **options)
        return memory, mask | True
