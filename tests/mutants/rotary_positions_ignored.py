"""Tokens are turned by their place in the padded batch, whatever positions are given."""

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.rotary_padded"
REPORTS = ("O8",)


class Mutant(numpy_positions.Rotary):
    def positions(self, x):
        return self.counted(x.shape[2])


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
