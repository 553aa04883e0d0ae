"""Uniform weights range as far as their standard deviation should be."""

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.initial_variance"
REPORTS = ("denizyuret/Knet.jl#311",)


class Draw(layers.Draw):
    def __call__(self, shape):
        weight = super().__call__(shape)
        return weight / 3**0.5 if self.distribution == "uniform" else weight
