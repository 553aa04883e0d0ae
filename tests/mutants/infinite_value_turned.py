"""An infinite value reaches the queries that see it with the other sign."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.nan_value_shows"
REPORTS = ()


class Mutant(Steps):
    def weighted(self, weights, visible):
        value = self.per_query_head(self.value)
        up = visible.astype(value.dtype) @ (value == np.inf).astype(value.dtype) > 0
        return np.where(up, -np.inf, super().weighted(weights, visible))


attention = Mutant.attention
