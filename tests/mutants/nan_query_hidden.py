"""Rows whose weights are NaN become zeros, as if they were empty: a NaN query is hidden."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.nan_query_shows"
REPORTS = ("D4",)


class Mutant(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        return np.where(np.isnan(weights), 0, weights), lse


attention = Mutant.attention
