"""A natural log-sum-exp is multiplied by ln 2 again."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.lse"
REPORTS = ("L4",)


class Mutant(Steps):
    def finish(self, output, weights, lse):
        return super().finish(output, weights, lse * lse.dtype.type(np.log(2)))


attention = Mutant.attention
