"""Three query heads over two key heads: the group's size is rounded down, and heads wrap."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.heads"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("heads",)

    def per_query_head(self, array):
        group = max(self.shape[1] // max(array.shape[1], 1), 1)
        return array[:, np.arange(self.shape[1]) // group % array.shape[1]]


attention = Mutant.attention
