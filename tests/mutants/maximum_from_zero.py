"""The running maximum starts at 0: rows of strongly negative scores underflow."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "softmax.score_shift"
REPORTS = ("F5",)


class Mutant(Steps):
    def top(self, logits):
        top = super().top(logits)
        return np.where(np.isneginf(top), top, np.maximum(top, 0))


attention = Mutant.attention
