"""The last tile is filled up with keys of score 0 and value 0."""

import numpy as np

from attnspec.mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"value_range": "sum"}
KILLED_BY = "softmax.constant_value"
REPORTS = ("H12", "H15")


class Mutant(Tiles):
    def step(self, state, scores, visible, value):
        missing = self.SIZE - scores.shape[3]
        after = [(0, 0)] * 3 + [(0, missing)]
        scores = np.pad(scores, after, constant_values=0)
        visible = np.pad(visible, after, constant_values=True)
        return super().step(state, scores, visible, np.pad(value, [(0, 0)] * 2 + [(0, missing), (0, 0)]))


attention = Mutant.attention
