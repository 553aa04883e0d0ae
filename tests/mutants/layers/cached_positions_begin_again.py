"""Each step of decoding counts positions from 0."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.cached_decoding"
REPORTS = ("RobertCsordas/moeut#6",)


@dataclass(frozen=True)
class Transformer(layers.Transformer):
    def step(self, parameters, ids, state):
        return super().step(parameters, ids, state._replace(length=0))
