"""Dropout is on the sum with the residual."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.dropout_places"
REPORTS = ()


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    def __call__(self, parameters, x, *, seed=None, **options):
        output = super().__call__(
            parameters, x, seed=None if seed is None else (seed, 0) if isinstance(seed, int) else seed, **options
        )
        return layers.dropout(
            output, self.dropout, None if seed is None else (seed, 7) if isinstance(seed, int) else (*seed, 7)
        )
