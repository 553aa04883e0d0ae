"""Positions are counted anew from the first token of a call: a step of a padded sample is at 0."""

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.rotary_padded"
REPORTS = ("O16",)


class Mutant(numpy_positions.Rotary):
    def positions(self, x):
        positions = super().positions(x)
        return positions if self.given is None else positions - positions[:, :1]


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
