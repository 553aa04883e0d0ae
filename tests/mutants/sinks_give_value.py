"""The sink's weight is spread over the visible keys, so that rows sum to 1."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ()


class Mutant(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        total = weights.sum(3, keepdims=True)
        return weights / np.where(total == 0, 1, total), lse


attention = Mutant.attention
