"""All tokens get the encoding of the first position."""

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.encoding_order"
REPORTS = ()


class Mutant(numpy_positions.Encoding):
    def positions(self, length):
        return 0 * super().positions(length) + self.offset


attention = numpy_positions.attention
positional_encoding = Mutant.positional_encoding
