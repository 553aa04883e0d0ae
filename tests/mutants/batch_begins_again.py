"""A batch of keys smaller than that of queries begins again."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.batch"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("batch",)

    def per_query_head(self, array):
        return super().per_query_head(array[np.arange(self.shape[0]) % len(array)])


attention = Mutant.attention
