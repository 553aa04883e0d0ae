"""Key/value heads are tiled over the query heads, declared."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"gqa_map": "tiled"}


class Control(Steps):
    def per_query_head(self, array):
        return np.tile(array, (1, self.shape[1] // max(array.shape[1], 1), 1, 1))


def attention(query, key, value, *, mask=None, bias=None, return_lse=False):
    return Control.attention(query, key, value, mask=mask, bias=bias, return_lse=return_lse)
