"""LayerNorm takes mean and variance over all tokens of a sequence."""

from dataclasses import dataclass

import numpy as np

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.norm_definition"
REPORTS = ("spcl/substation#2",)


@dataclass(frozen=True)
class LayerNorm(layers.LayerNorm):
    def __call__(self, parameters, x):
        self.bind(parameters, x)
        centred = x - x.mean((1, 2), keepdims=True)
        deviation = np.sqrt(x.var((1, 2), keepdims=True) + self.epsilon)
        return centred / deviation * parameters["weight"] + parameters["bias"]
