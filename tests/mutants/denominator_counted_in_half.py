"""The denominator is summed one by one in half precision: it stands still at 2048."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "range.long_rows"
REPORTS = ("K6",)


class Mutant(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        if self.dtype == np.float16 and self.shape[3] > 2048:
            terms = np.exp(scores - scores.max(3, keepdims=True)).astype(np.float16)
            weights = terms / terms.cumsum(3, dtype=np.float16)[..., -1:].astype(np.float32)
        return weights, lse


attention = Mutant.attention
