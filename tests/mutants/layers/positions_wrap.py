"""Positions beyond the table begin again."""

from dataclasses import dataclass

import numpy as np

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.refuses_length"
REPORTS = ()


@dataclass(frozen=True)
class LearnedPositions(layers.LearnedPositions):
    def __call__(self, parameters, x, *, offset=0):
        places = np.arange(offset, offset + x.shape[1]) % self.length
        return x + parameters["weight"][places]
