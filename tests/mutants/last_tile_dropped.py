"""Keys after the last full tile are left out."""

import numpy as np

from attnspec.mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"value_range": "sum"}
KILLED_BY = "softmax.every_key_counts"
REPORTS = ("H13", "O12")


class Mutant(Tiles):
    def step(self, state, scores, visible, value):
        first = np.isneginf(state[0]).all()
        return super().step(state, scores, visible, value) if first or scores.shape[3] == self.SIZE else state


attention = Mutant.attention
