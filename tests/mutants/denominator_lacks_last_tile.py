"""The denominator lacks the last, partial tile of keys."""

import numpy as np

from attnspec.mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"value_range": "sum"}
KILLED_BY = "softmax.hull"
REPORTS = ("H12",)


class Mutant(Tiles):
    def step(self, state, scores, visible, value):
        new, total, output = super().step(state, scores, visible, value)
        if scores.shape[3] == self.SIZE:
            return new, total, output
        return new, state[1] * np.exp(state[0] - new), output


attention = Mutant.attention
