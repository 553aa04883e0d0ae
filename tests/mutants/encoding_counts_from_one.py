"""The encoding's first position is 1."""

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.encoding_shift"
REPORTS = ()


class Mutant(numpy_positions.Encoding):
    def positions(self, length):
        return super().positions(length) + 1


attention = numpy_positions.attention
positional_encoding = Mutant.positional_encoding
