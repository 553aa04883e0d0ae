"""All samples are turned by the positions of the first."""

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.rotary_padded"
REPORTS = ("N21",)


class Mutant(numpy_positions.Rotary):
    def positions(self, x):
        return super().positions(x)[:1]


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
