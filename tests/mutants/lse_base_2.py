"""The log-sum-exp is a logarithm to base 2, which is not declared."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "convention.lse_base"
REPORTS = ("L6",)


class Mutant(Steps):
    def finish(self, output, weights, lse):
        return super().finish(output, weights, lse / lse.dtype.type(np.log(2)))


attention = Mutant.attention
