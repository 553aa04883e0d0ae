"""Embeddings are dropped before their positions are added, which are never dropped."""

import math
from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.dropout_transformer"
REPORTS = ()


@dataclass(frozen=True)
class Transformer(layers.Transformer):
    def _embedded(self, parameters, side, ids, *, offset=0, seed=None):
        part = self.bind(parameters, ids)
        x = layers.dropout(part[f"{side}_embedding"](ids) * math.sqrt(self.width), self.dropout, seed)
        return part["positions"](x, offset=offset)
