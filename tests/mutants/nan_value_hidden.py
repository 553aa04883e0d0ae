"""Values that are NaN count as 0, also where they are seen."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.nan_value_shows"
REPORTS = ()


class Mutant(Steps):
    def weighted(self, weights, visible):
        self.value = np.where(np.isnan(self.value), 0, self.value)
        return super().weighted(weights, visible)


attention = Mutant.attention
