"""With a cache, the causal mask counts queries from the first key."""

from dataclasses import dataclass

import numpy as np

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.cached_attention"
REPORTS = ("google/flax#5591",)


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def step(self, parameters, x, past=None):
        offset = 0 if past is None else past[0].shape[2]
        new = self.keys_values(parameters, x, offset=offset)
        kept = new if past is None else tuple(np.concatenate(pair, axis=2) for pair in zip(past, new, strict=True))
        n, keys = x.shape[1], np.arange(kept[0].shape[2])
        mask = keys <= np.arange(n)[:, None]
        return self.attend(parameters, x, kept, offset=offset, mask=mask), kept
