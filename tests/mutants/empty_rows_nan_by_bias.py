"""A query whose every key has a bias of -inf gives NaN."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "convention.empty_row_bias"
REPORTS = ()


class Mutant(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        hidden = np.isneginf(scores).all(3, keepdims=True) & (self.shape[3] > 0)
        return np.where(hidden & np.isneginf(lse)[..., None], np.nan, weights), lse


attention = Mutant.attention
