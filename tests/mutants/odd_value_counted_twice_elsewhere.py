"""Where one head has a value that is not finite, the values of the other heads at that key are added twice."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.nan_value_shows"
REPORTS = ()


class Mutant(Steps):
    def weighted(self, weights, visible):
        value = self.per_query_head(self.value)
        odd = ~np.isfinite(value)
        again = odd.any((0, 1, 3))[:, None] & ~odd
        return super().weighted(weights, visible) + weights @ np.where(again, value, 0)


attention = Mutant.attention
