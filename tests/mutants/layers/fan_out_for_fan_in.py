"""Kaiming's rule counts outputs for inputs."""

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403
from attnspec.impls.layers.initialise import fans

ARRAYS = "numpy"
KILLED_BY = "layers.initial_variance"
REPORTS = ("tkipf/pygcn#42",)


class Draw(layers.Draw):
    def __call__(self, shape):
        rule = (lambda s: (2 / fans(s)[1]) ** 0.5) if self.rule == "kaiming" else self.rule
        return layers.Draw(self.like, rule, 1, self.distribution)(shape)
