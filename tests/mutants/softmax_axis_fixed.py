"""The softmax axis is fixed at 2: right for rank 3, the queries for rank 4."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.weights"
REPORTS = ("F4",)


class Mutant(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        if len(self.lead) < 2:
            return weights, lse
        terms = np.where(visible, np.exp(scores - scores.max(initial=0)), 0)
        return terms / np.maximum(terms.sum(2, keepdims=True), 1e-30), lse


attention = Mutant.attention
