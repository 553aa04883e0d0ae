"""The encoding is made for x (L, B, D): with the batch first, all tokens of a sample get the sample's."""

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.encoding_batch"
REPORTS = ("N20",)


class Mutant(numpy_positions.Encoding):
    def added(self, x):
        samples, _, width = x.shape
        return x + self.table(samples, width)[:, None].astype(x.dtype)


attention = numpy_positions.attention
positional_encoding = Mutant.positional_encoding
