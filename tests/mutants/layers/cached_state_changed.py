"""A step writes into the keys that it was given."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.cached_attention"
REPORTS = ()


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def step(self, parameters, x, past=None):
        output, after = super().step(parameters, x, past)
        if past is not None:
            past[0][:, :, -1] = after[0][:, :, -1]
        return output, after
