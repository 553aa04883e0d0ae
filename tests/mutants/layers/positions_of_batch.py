"""Positions count the sequences of the batch, not the tokens."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.positions"
REPORTS = ("tanjimin/C.Origami#42", "songyangco/GETNext#2")


@dataclass(frozen=True)
class SinusoidalPositions(layers.SinusoidalPositions):
    def __call__(self, parameters, x, *, offset=0):
        return super().__call__(parameters, x.swapaxes(0, 1), offset=offset).swapaxes(0, 1)
