"""Padding of the source is the id 0, whatever the Transformer is told."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.transformer"
REPORTS = ()


@dataclass(frozen=True)
class Transformer(layers.Transformer):
    def encode(self, parameters, source_ids, *, seed=None):
        return layers.Transformer.encode(self._of_zero, parameters, source_ids, seed=seed)

    @property
    def _of_zero(self):
        options = {"activation": self.activation, "norm_first": self.norm_first, "dropout": self.dropout}
        sizes = (self.source_count, self.target_count, self.width, self.heads, self.hidden, self.count)
        return layers.Transformer(*sizes, **options)
