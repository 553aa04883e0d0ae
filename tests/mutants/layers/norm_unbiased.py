"""LayerNorm divides by width − 1, as torch.std does by default."""

from dataclasses import dataclass

import numpy as np

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.norm_moments"
REPORTS = ("harvardnlp/annotated-transformer#119", "allenai/allennlp#953")


@dataclass(frozen=True)
class LayerNorm(layers.LayerNorm):
    def __call__(self, parameters, x):
        self.bind(parameters, x)
        deviation = np.sqrt(x.var(-1, ddof=1, keepdims=True) + self.epsilon)
        return (x - x.mean(-1, keepdims=True)) / deviation * parameters["weight"] + parameters["bias"]
