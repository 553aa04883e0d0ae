"""The softcap comes after the mask, so that -inf becomes -c and hidden keys get weight."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "softmax.hidden_weight_zero"
REPORTS = ("L1",)


class Mutant(Steps):
    def softmax(self, scores, visible):
        if not self.softcap:
            return super().softmax(scores, visible)
        return super().softmax(np.where(visible, scores, -self.softcap), visible.any(3, keepdims=True))


attention = Mutant.attention
