"""Nothing is dropped from the embeddings of the source."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.dropout_transformer"
REPORTS = ()


@dataclass(frozen=True)
class Transformer(layers.Transformer):
    def _embedded(self, parameters, side, ids, *, offset=0, seed=None):
        return super()._embedded(parameters, side, ids, offset=offset, seed=None if side == "source" else seed)
