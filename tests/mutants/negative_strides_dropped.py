"""Negative strides are read as positive ones."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.views"
REPORTS = ()


class Mutant(Steps):
    def lifted(self, array):
        return super().lifted(array[tuple(slice(None, None, -1 if s < 0 else 1) for s in array.strides)])


attention = Mutant.attention
