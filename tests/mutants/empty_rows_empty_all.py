"""One query without a visible key makes its whole head's output 0."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.empty_rows"
REPORTS = ()


class Mutant(Steps):
    def weighted(self, weights, visible):
        some = visible.any(3, keepdims=True).all(2, keepdims=True) | (self.sinks is not None)
        return np.where(some, super().weighted(weights, visible), 0)


attention = Mutant.attention
