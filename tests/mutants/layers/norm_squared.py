"""LayerNorm squares the variance where it should take the root."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.norm_definition"
REPORTS = ("131250208/TPlinker-joint-extraction#37",)


@dataclass(frozen=True)
class LayerNorm(layers.LayerNorm):
    def __call__(self, parameters, x):
        self.bind(parameters, x)
        centred = x - x.mean(-1, keepdims=True)
        return centred / (x.var(-1, keepdims=True) + self.epsilon) ** 2 * parameters["weight"] + parameters["bias"]
