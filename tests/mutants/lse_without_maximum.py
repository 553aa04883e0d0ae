"""The log-sum-exp lacks the maximum that was subtracted."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.lse"
REPORTS = ("L7",)


class Mutant(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        top = self.top(np.where(visible, scores, -np.inf))[..., 0]
        return weights, np.where(np.isneginf(lse), lse, lse - top)


attention = Mutant.attention
