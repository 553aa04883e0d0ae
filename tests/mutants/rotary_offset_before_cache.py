"""The offset is taken for the length with the new tokens, and goes back by as many."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.steps"
REPORTS = ("N5",)


class Mutant(numpy_positions.Rotary):
    def counted(self, length):
        return np.maximum(super().counted(length) - (length if self.offset else 0), 0)


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
