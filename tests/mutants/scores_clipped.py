"""Scores are clipped to what single precision is thought to need."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "range.extreme_scores"
REPORTS = ()


class Mutant(Steps):
    def scores(self):
        return np.clip(super().scores(), -5000, 5000)


attention = Mutant.attention
