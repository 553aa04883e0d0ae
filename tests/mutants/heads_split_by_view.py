"""Heads are split by a view without a transpose, along time."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "symmetry.permutation_equivariance"
REPORTS = ("G2",)


class Mutant(Steps):
    def __init__(self, query, key, value, options):
        super().__init__(query, key, value, options)
        arrays = self.query, self.key, self.value
        self.query, self.key, self.value = (array.swapaxes(1, 2).reshape(array.shape) for array in arrays)


attention = Mutant.attention
