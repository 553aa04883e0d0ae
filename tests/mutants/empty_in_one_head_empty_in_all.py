"""A query without a visible key in one head gives 0 in all heads."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.empty_rows"
REPORTS = ()


class Mutant(Steps):
    def weighted(self, weights, visible):
        some = visible.any(3, keepdims=True).all(1, keepdims=True) | (self.sinks is not None)
        return np.where(some, super().weighted(weights, visible), 0)


attention = Mutant.attention
