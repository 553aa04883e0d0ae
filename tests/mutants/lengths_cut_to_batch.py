"""Of more lengths than samples the first are taken, and fewer begin again."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.key_lengths"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("key_lengths",)

    def by_length(self):
        if self.key_lengths is None:
            return np.True_
        return np.arange(self.shape[3]) < np.resize(self.key_lengths, self.shape[0])[:, None, None, None]


attention = Mutant.attention
