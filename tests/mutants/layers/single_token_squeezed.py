"""A sequence of one token loses its axis."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.dimensions"
REPORTS = ()


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def __call__(self, parameters, x, **options):
        y = super().__call__(parameters, x, **options)
        return y.squeeze(1) if y.shape[1] == 1 else y
