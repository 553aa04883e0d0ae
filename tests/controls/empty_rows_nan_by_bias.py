"""A query gives zeros where a mask hides every key and NaN where a bias does, declared."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"empty_row": "zero", "empty_row_bias": "nan"}


class Control(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        shown = np.broadcast_to(self.by_bias(), self.shape).any(3, keepdims=True)
        self.by_bias_alone = ~shown & (self.shape[3] > 0)
        return np.where(self.by_bias_alone, np.nan, weights), lse

    def weighted(self, weights, visible):
        return np.where(self.by_bias_alone, np.nan, super().weighted(weights, visible))


def attention(query, key, value, *, mask=None, bias=None, return_weights=False):
    return Control.attention(query, key, value, mask=mask, bias=bias, return_weights=return_weights)
