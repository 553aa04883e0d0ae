"""The tables of a partial rotation are as wide as all features."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.rotary_partial"
REPORTS = ("N6",)
RAISES = True


class Mutant(numpy_positions.Rotary):
    def frequencies(self, x):
        width = x.shape[3]
        return self.base ** -(np.arange(0, width, 2) / max(width, 1))


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
