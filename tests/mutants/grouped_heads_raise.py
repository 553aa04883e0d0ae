"""Grouped heads work on one path only; on this one, several key/value heads fewer than query heads raise."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "contract.claims"
REPORTS = ("G9",)


class Mutant(Steps):
    def per_query_head(self, array):
        return np.broadcast_to(array, (array.shape[0], self.shape[1], *array.shape[2:]))


attention = Mutant.attention
