"""The bias is cast to boolean: every one that is not 0 hides its key."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("C6",)


class Mutant(Steps):
    def added(self, scores):
        return scores

    def by_bias(self):
        return np.True_ if self.bias is None else self.bias == 0


attention = Mutant.attention
