"""The rotary embedding turns the other way round."""

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.rotary_values"
REPORTS = ()


class Mutant(numpy_positions.Rotary):
    def angles(self, x):
        return -super().angles(x)


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
