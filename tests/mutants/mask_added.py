"""The boolean mask is added to the scores as 0 and 1."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "softmax.hidden_weight_zero"
REPORTS = ("C8", "C9")


class Mutant(Steps):
    def added(self, scores):
        return super().added(scores) + (0 if self.mask is None else self.mask.astype(scores.dtype))

    def by_mask(self):
        return np.True_


attention = Mutant.attention
