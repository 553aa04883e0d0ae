"""With several key/value heads, but fewer than query heads, they are tiled; one and all are right."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "heads.gqa_is_repetition"
REPORTS = ("G10",)


class Mutant(Steps):
    def per_query_head(self, array):
        heads = array.shape[1]
        return np.tile(array, (1, self.shape[1] // heads, 1, 1)) if heads > 2 else super().per_query_head(array)


attention = Mutant.attention
