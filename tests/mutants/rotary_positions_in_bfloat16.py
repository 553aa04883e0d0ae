"""Positions are kept in bfloat16, which has only the even ones above 256."""

import ml_dtypes
import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.rotary_relative"
REPORTS = ()


class Mutant(numpy_positions.Rotary):
    def positions(self, x):
        return super().positions(x).astype(ml_dtypes.bfloat16).astype(np.float64)


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
