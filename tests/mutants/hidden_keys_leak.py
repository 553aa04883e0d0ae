"""Hidden scores are overwritten by adding -inf, so NaN in a hidden key stays NaN."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "convention.masked_nonfinite"
REPORTS = ("D2",)


class Mutant(Steps):
    def softmax(self, scores, visible):
        return super().softmax(scores + np.where(visible, 0, -np.inf).astype(scores.dtype), visible | np.isnan(scores))


attention = Mutant.attention
