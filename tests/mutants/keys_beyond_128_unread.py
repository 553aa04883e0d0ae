"""Keys past the 128th are left out in silence."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "softmax.every_key_counts"
REPORTS = ("H14",)


class Mutant(Steps):
    def visible(self):
        return super().visible() & (np.arange(self.shape[3]) < 128)


attention = Mutant.attention
