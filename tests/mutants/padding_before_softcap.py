"""The last tile's padding is set to -inf before the softcap and becomes -c, without a mask only."""

import numpy as np

from attnspec.mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"value_range": "sum"}
KILLED_BY = "definition.output"
REPORTS = ("L3",)


class Mutant(Tiles):
    def step(self, state, scores, visible, value):
        missing = self.SIZE - scores.shape[3] if self.softcap and self.mask is None else 0
        after = [(0, 0)] * 3 + [(0, missing)]
        scores = np.pad(scores, after, constant_values=-(self.softcap or 0))
        visible = np.pad(visible, after, constant_values=True)
        return super().step(state, scores, visible, np.pad(value, [(0, 0)] * 2 + [(0, missing), (0, 0)]))


attention = Mutant.attention
