"""Values are clipped to the range of a narrow type."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "symmetry.value_linearity"
REPORTS = ()


class Mutant(Steps):
    def weighted(self, weights, visible):
        self.value = np.clip(self.value, -4, 4)
        return super().weighted(weights, visible)


attention = Mutant.attention
