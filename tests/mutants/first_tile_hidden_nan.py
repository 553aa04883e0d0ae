"""The running maximum starts at -inf and is subtracted from itself when the first tile is hidden."""

import numpy as np

from attnspec.mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"value_range": "sum"}
KILLED_BY = "definition.output"
REPORTS = ("D5",)


class Mutant(Tiles):
    def step(self, state, scores, visible, value):
        new, total, output = super().step(state, scores, visible, value)
        broken = np.where(np.isneginf(new), np.nan, 0)
        return new, total + broken, output + broken


attention = Mutant.attention
