"""A key without heads is empty, and what is empty gives zeros."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.no_heads"
REPORTS = ("H6",)


class Mutant(Steps):
    UNCHECKED = ("no_heads",)

    def per_query_head(self, array):
        if array.shape[1] == 0:
            return np.zeros((array.shape[0], self.shape[1], *array.shape[2:]), array.dtype)
        return super().per_query_head(array)


attention = Mutant.attention
