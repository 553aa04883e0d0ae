"""The rotary embedding overwrites its input."""

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.inputs_unchanged"
REPORTS = ()


class Mutant(numpy_positions.Rotary):
    def run(self, x):
        x[...] = super().run(x)
        return x


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
