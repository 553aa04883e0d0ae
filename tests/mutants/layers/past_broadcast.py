"""What is kept of one sequence serves all, whatever their number."""

from dataclasses import dataclass

import numpy as np

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.refuses_past"
REPORTS = ()


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def step(self, parameters, x, past=None):
        if past is not None and len(past[0]) == 1:
            past = tuple(np.repeat(array, len(x), 0) for array in past)
        return super().step(parameters, x, past)
