"""Causality is ignored unless a mask comes with it."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.causal_is_mask"
REPORTS = ("B11",)


class Mutant(Steps):
    def by_causality(self):
        return np.True_ if self.mask is None else super().by_causality()


attention = Mutant.attention
