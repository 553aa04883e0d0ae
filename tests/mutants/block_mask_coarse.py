"""A tile of 4 × 4 places that starts with a visible one is taken for all visible."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "softmax.hidden_weight_zero"
REPORTS = ("P8",)


class Mutant(Steps):
    def by_mask(self):
        mask = np.broadcast_to(super().by_mask(), self.shape)
        first = mask[:, :, ::4, ::4].repeat(4, 2).repeat(4, 3)
        return mask | first[:, :, : self.shape[2], : self.shape[3]]


attention = Mutant.attention
