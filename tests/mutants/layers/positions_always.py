"""The encoder adds positions to whatever it gets."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.permutation"
REPORTS = ()


@dataclass(frozen=True)
class Encoder(layers.Encoder):
    def __call__(self, parameters, x, **options):
        return super().__call__(parameters, layers.SinusoidalPositions(x.shape[-1])({}, x), **options)
