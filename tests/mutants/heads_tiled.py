"""Key/value heads are tiled over the query heads instead of repeated in groups."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "convention.gqa_map"
REPORTS = ("G8",)


class Mutant(Steps):
    def per_query_head(self, array):
        return np.tile(array, (1, self.shape[1] // max(array.shape[1], 1), 1, 1))


attention = Mutant.attention
