"""A length below 0 counts from the last key, as an index does."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.key_lengths"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("key_lengths",)

    def by_length(self):
        if self.key_lengths is not None:
            self.key_lengths = np.where(self.key_lengths < 0, self.shape[3], 0) + self.key_lengths
        return super().by_length()


attention = Mutant.attention
