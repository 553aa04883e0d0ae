"""A row whose biases are all the lowest number counts as one without keys: its output is 0, even for a NaN query."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.nan_query_shows"
REPORTS = ("D4",)


class Mutant(Steps):
    def by_bias(self):
        if self.bias is None:
            return np.True_
        lowest = self.bias == np.finfo(self.bias.dtype).min
        return super().by_bias() & ~lowest.all(-1, keepdims=True)


attention = Mutant.attention
