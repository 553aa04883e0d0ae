"""The encoding has one cosine too many for an odd width, and fails."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.encoding_odd_width"
REPORTS = ("N18",)
RAISES = True


class Mutant(numpy_positions.Encoding):
    def cosines(self, angles, width):
        return np.cos(angles)


attention = numpy_positions.attention
positional_encoding = Mutant.positional_encoding
