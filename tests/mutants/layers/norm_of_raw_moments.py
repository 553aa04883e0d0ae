"""The variance as E[x²] − μ², which loses all digits where μ is far larger."""

from dataclasses import dataclass

import numpy as np

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.norm_definition"
REPORTS = ()


@dataclass(frozen=True)
class LayerNorm(layers.LayerNorm):
    def __call__(self, parameters, x):
        self.bind(parameters, x)
        mean = x.mean(-1, keepdims=True)
        deviation = np.sqrt((x * x).mean(-1, keepdims=True) - mean * mean + self.epsilon)
        return (x - mean) / deviation * parameters["weight"] + parameters["bias"]
