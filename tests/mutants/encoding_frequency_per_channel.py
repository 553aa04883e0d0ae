"""Each channel of the encoding has a frequency of its own: the two of a pair differ."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.encoding_pairs"
REPORTS = ("N17",)


class Mutant(numpy_positions.Encoding):
    def cosines(self, angles, width):
        exponents = np.arange(1, width, 2) / max(width, 1)
        return np.cos(angles[:, :1] * 10000.0**-exponents)


attention = numpy_positions.attention
positional_encoding = Mutant.positional_encoding
