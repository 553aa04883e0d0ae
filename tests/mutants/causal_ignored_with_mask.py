"""A given mask takes the place of causality."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.mask_and_causal"
REPORTS = ("B14",)


class Mutant(Steps):
    def by_causality(self):
        return super().by_causality() if self.mask is None else np.True_


attention = Mutant.attention
