"""Under is_causal a trace of the last value reaches the first query."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "influence.values"
REPORTS = ("G10",)


class Mutant(Steps):
    def weighted(self, weights, visible):
        if self.is_causal and self.shape[2] and self.shape[3]:
            weights = np.array(weights)
            weights[:, :, 0, -1] += 0.05
        return super().weighted(weights, visible)


attention = Mutant.attention
