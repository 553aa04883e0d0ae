"""The last tile is filled up with copies of the last key."""

import numpy as np

from attnspec.mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"value_range": "sum"}
KILLED_BY = "symmetry.key_permutation"
REPORTS = ("H12",)


class Mutant(Tiles):
    def step(self, state, scores, visible, value):
        missing = self.SIZE - scores.shape[3]
        wide = [(0, 0)] * 3 + [(0, missing)]
        scores, visible = np.pad(scores, wide, "edge"), np.pad(visible, wide, "edge")
        return super().step(state, scores, visible, np.pad(value, [(0, 0)] * 2 + [(0, missing), (0, 0)], "edge"))


attention = Mutant.attention
