"""A query without a visible key attends to all keys alike, which is not declared."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "convention.empty_row"
REPORTS = ("A8",)


class Mutant(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        return np.where(np.isneginf(lse)[..., None], 1 / max(self.shape[3], 1), weights), lse


attention = Mutant.attention
