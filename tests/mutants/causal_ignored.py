"""Causality is ignored."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.causality"
REPORTS = ("B16", "C4")


class Mutant(Steps):
    def by_causality(self):
        return np.True_


attention = Mutant.attention
