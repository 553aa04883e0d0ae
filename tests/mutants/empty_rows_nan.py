"""A query without a visible key gives NaN."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "convention.empty_row"
REPORTS = ("A2", "A7", "A9")


class Mutant(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        return np.where(np.isneginf(lse)[..., None], np.nan, weights), lse

    def weighted(self, weights, visible):
        return np.where(np.isnan(weights).any(3, keepdims=True), np.nan, super().weighted(weights, visible))


attention = Mutant.attention
