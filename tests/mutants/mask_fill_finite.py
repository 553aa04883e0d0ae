"""Hidden scores are filled with -1e4, which real scores fall below."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "softmax.hidden_weight_zero"
REPORTS = ("C13", "C14")


class Mutant(Steps):
    def softmax(self, scores, visible):
        filled = np.where(visible, scores, scores.dtype.type(-1e4))
        return super().softmax(filled, visible.any(3, keepdims=True))


attention = Mutant.attention
