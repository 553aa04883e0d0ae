"""A single score goes through a sigmoid, as if it stood against a second one of 0."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "shape.one"
REPORTS = ()


class Mutant(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        return (weights / (1 + np.exp(-scores)) if self.shape[3] == 1 else weights), lse


attention = Mutant.attention
