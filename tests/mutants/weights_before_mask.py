"""Requested weights are recomputed on a path that knows no masks."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "softmax.hidden_weight_zero"
REPORTS = ("B8", "B13")


class Mutant(Steps):
    def finish(self, output, weights, lse):
        free, _ = self.softmax(self.scores(), np.ones(self.shape, bool))
        return super().finish(output, free, lse)


attention = Mutant.attention
