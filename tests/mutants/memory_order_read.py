"""Inputs are read in the order of memory, as if they were contiguous."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.views"
REPORTS = ("H1", "E7")


class Mutant(Steps):
    def lifted(self, array):
        return super().lifted(array.ravel(order="K").reshape(array.shape))


attention = Mutant.attention
