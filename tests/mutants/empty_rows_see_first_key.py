"""A query without a visible key gets the first value."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.empty_rows"
REPORTS = ("A8",)


class Mutant(Steps):
    def softmax(self, scores, visible):
        first = np.arange(self.shape[3]) == 0
        weights, lse = super().softmax(scores, visible)
        return np.where(np.isneginf(lse)[..., None] & first, 1, weights), lse


attention = Mutant.attention
