"""The log-sum-exp of a query without a visible key is 0, as if its denominator were 1."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "convention.empty_row_lse"
REPORTS = ()


class Mutant(Steps):
    def finish(self, output, weights, lse):
        return super().finish(output, weights, np.where(np.isneginf(lse), 0, lse))


attention = Mutant.attention
