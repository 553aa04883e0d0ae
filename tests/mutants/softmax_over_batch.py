"""The softmax runs over the batch: with one sample every weight is 1."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "softmax.constant_value"
REPORTS = ("F3",)


class Mutant(Steps):
    def softmax(self, scores, visible):
        _, lse = super().softmax(scores, visible)
        terms = np.where(visible, np.exp(scores - scores.max(initial=0)), 0)
        return terms / np.maximum(terms.sum(0), 1e-30), lse


attention = Mutant.attention
