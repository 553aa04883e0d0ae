"""Every query head reads the first key/value head."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "symmetry.head_independence"
REPORTS = ("E7",)


class Mutant(Steps):
    def per_query_head(self, array):
        return np.repeat(array[:, :1], self.shape[1], axis=1)


attention = Mutant.attention
