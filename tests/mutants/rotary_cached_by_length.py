"""The table of angles is cached by its length: the next offset gets that of the last."""

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.history"
REPORTS = ("N1",)

CACHE = {}


class Mutant(numpy_positions.Rotary):
    def counted(self, length):
        return CACHE.setdefault(length, super().counted(length))


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
