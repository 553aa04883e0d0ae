"""Past keys of grouped heads change places."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.cached_attention"
REPORTS = ()


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def step(self, parameters, x, past=None):
        if past is not None and past[0].shape[1] < self.heads:
            past = (past[0][:, ::-1], past[1])
        return super().step(parameters, x, past)
