"""The rotation counts heads instead of tokens."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.rotary_alike"
REPORTS = ("N4",)


class Mutant(numpy_positions.Rotary):
    def angles(self, x):
        heads = np.arange(self.offset, self.offset + x.shape[1])  # taken for the sequence
        return heads[None, :, None, None] * self.frequencies(x)


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
