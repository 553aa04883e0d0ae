"""A query without a visible key gives NaN, declared."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"empty_row": "nan"}


class Control(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        self.empty = np.isneginf(lse)[..., None]
        return np.where(self.empty, np.nan, weights), lse

    def weighted(self, weights, visible):
        return np.where(self.empty, np.nan, super().weighted(weights, visible))


def attention(query, key, value, *, mask=None, bias=None, window=None, return_weights=False, return_lse=False):
    wanted = {"return_weights": return_weights, "return_lse": return_lse}
    return Control.attention(query, key, value, mask=mask, bias=bias, window=window, **wanted)
