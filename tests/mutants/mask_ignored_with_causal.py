"""Causality takes the place of a given mask."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.mask_and_causal"
REPORTS = ()


class Mutant(Steps):
    def by_mask(self):
        return np.True_ if self.is_causal else super().by_mask()


attention = Mutant.attention
