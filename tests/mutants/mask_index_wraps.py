"""The mask's flat index i·S + j is a 16-bit number and wraps in long sequences."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("K11", "K12")


class Mutant(Steps):
    def by_mask(self):
        mask = np.broadcast_to(super().by_mask(), self.shape)
        flat = mask.reshape(*self.shape[:2], self.shape[2] * self.shape[3])
        return flat[..., np.arange(flat.shape[2]) % 2**15].reshape(self.shape)


attention = Mutant.attention
