"""The returned weights are the exponentials before their division by the sum."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "softmax.rows_sum_to_one"
REPORTS = ()


class Mutant(Steps):
    def finish(self, output, weights, lse):
        return super().finish(output, weights / np.maximum(weights.max(3, keepdims=True, initial=0), 1e-30), lse)


attention = Mutant.attention
