"""Hidden weights are set to 0 after the softmax, so the rest no longer sum to 1."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "softmax.rows_sum_to_one"
REPORTS = ("C16", "C27")


class Mutant(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(np.where(np.isneginf(scores), 0, scores), np.ones(self.shape, bool))
        return np.where(visible, weights, 0), lse


attention = Mutant.attention
