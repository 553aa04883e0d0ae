"""Embeddings are not multiplied by the root of the width."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.transformer"
REPORTS = ()


@dataclass(frozen=True)
class Transformer(layers.Transformer):
    def _embedded(self, parameters, side, ids, **options):
        name = f"{side}_embedding.weight"
        smaller = {**parameters, name: parameters[name] / self.width**0.5}
        return super()._embedded(smaller, side, ids, **options)
