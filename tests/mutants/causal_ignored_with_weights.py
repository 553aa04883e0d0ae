"""Causality is ignored when the weights are requested."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.causality"
REPORTS = ("B8", "B13")


class Mutant(Steps):
    def by_causality(self):
        return np.True_ if self.return_weights else super().by_causality()


attention = Mutant.attention
