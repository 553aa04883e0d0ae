"""LayerNorm adds ε to the standard deviation, not to the variance."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.norm_definition"
REPORTS = ("hyunwoongko/transformer#7", "hkproj/pytorch-transformer#31")


@dataclass(frozen=True)
class LayerNorm(layers.LayerNorm):
    def __call__(self, parameters, x):
        self.bind(parameters, x)
        centred = x - x.mean(-1, keepdims=True)
        return centred / (x.std(-1, keepdims=True) + self.epsilon) * parameters["weight"] + parameters["bias"]
