"""The mask is taken the other way round: True hides."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "convention.mask"
REPORTS = ("C1", "C3", "C4")


class Mutant(Steps):
    def by_mask(self):
        return np.True_ if self.mask is None else ~self.mask


attention = Mutant.attention
