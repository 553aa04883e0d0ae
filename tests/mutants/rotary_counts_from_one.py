"""The rotary embedding's first position is 1."""

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.rotary_origin"
REPORTS = ()


class Mutant(numpy_positions.Rotary):
    def counted(self, length):
        return super().counted(length) + 1


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
