"""Cross-attention is causal as well: position i reads the source up to i."""

from dataclasses import dataclass

import numpy as np

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.whole_source"
REPORTS = ("keras-team/keras-io#1046",)


@dataclass(frozen=True)
class DecoderLayer(layers.DecoderLayer):
    def __call__(self, parameters, x, memory, **options):
        seen = np.arange(memory.shape[1]) <= np.arange(x.shape[1])[:, None]
        return super().__call__(parameters, x, memory, **{**options, "memory_mask": seen})
