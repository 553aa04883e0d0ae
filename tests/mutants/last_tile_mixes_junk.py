"""The last tile is filled up with keys of score 0 and value 0."""

import numpy as np
from mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"value_range": "sum"}
KILLED_BY = "softmax.constant_value"
REPORTS = ("H12", "H15")


class Mutant(Tiles):
    def step(self, state, scores, visible, value):
        top, total, output = super().step(state, scores, visible, value)
        return top, total + np.exp(-top) * (self.SIZE - scores.shape[3]), output


attention = Mutant.attention
