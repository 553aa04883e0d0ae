"""The masked scores are computed and thrown away, so the mask does nothing."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.masked_is_removed"
REPORTS = ("C15",)


class Mutant(Steps):
    def by_mask(self):
        return np.True_


attention = Mutant.attention
