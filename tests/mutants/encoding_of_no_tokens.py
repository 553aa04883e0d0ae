"""Sines and cosines are joined by a reshape with the width to be guessed, which without a token nothing tells."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.encoding_values"
REPORTS = ()
RAISES = True


class Mutant(numpy_positions.Encoding):
    def table(self, length, width):
        angles = self.positions(length)[:, None] * 10000.0 ** -self.exponents(width)
        return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, -1)[:, :width]


attention = numpy_positions.attention
positional_encoding = Mutant.positional_encoding
