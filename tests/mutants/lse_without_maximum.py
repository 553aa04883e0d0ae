"""The log-sum-exp lacks the maximum that was subtracted."""

import numpy as np
from mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.lse"
REPORTS = ("L7",)


class Mutant(Steps):
    def finish(self, output, weights, lse):
        largest = np.log(np.maximum(weights.max(3, initial=0), 1e-30)) + lse
        return super().finish(output, weights, np.where(np.isneginf(lse), lse, lse - largest))


attention = Mutant.attention
