"""The encoder takes the batch for the sequence."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.batch"
REPORTS = ("IBM/TabFormer#14",)


@dataclass(frozen=True)
class Encoder(layers.Encoder):
    def __call__(self, parameters, x, **options):
        return super().__call__(parameters, x.swapaxes(0, 1), **options).swapaxes(0, 1)
