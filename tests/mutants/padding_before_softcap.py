"""The last tile's padding is set to -inf before the softcap and becomes -c, without a mask only."""

import numpy as np
from mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"value_range": "sum"}
KILLED_BY = "definition.output"
REPORTS = ("L3",)


class Mutant(Tiles):
    def step(self, state, scores, visible, value):
        top, total, output = super().step(state, scores, visible, value)
        junk = np.exp(-self.softcap - top) if self.softcap and self.mask is None else 0
        return top, total + junk * (self.SIZE - scores.shape[3]), output


attention = Mutant.attention
