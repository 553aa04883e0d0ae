"""The encoding's wavelengths end at 1000 instead of 10000."""

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.encoding_values"
REPORTS = ()


class Mutant(numpy_positions.Encoding):
    def exponents(self, width):
        return 0.75 * super().exponents(width)


attention = numpy_positions.attention
positional_encoding = Mutant.positional_encoding
