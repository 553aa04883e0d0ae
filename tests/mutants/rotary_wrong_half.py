"""The second of a pair is added to itself instead of to the first."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.rotary_norm"
REPORTS = ()


class Mutant(numpy_positions.Rotary):
    def turned(self, x, angles):
        first, second = self.pairs(x)
        cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
        return self.joined(first * cos - second * sin, second * sin + second * cos)


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
