"""A query without a visible key attends to all keys alike, declared."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"empty_row": "mean"}


class Control(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        return np.where(np.isneginf(lse)[..., None], 1 / max(self.shape[3], 1), weights), lse


def attention(query, key, value, *, mask=None, bias=None, is_causal=False, return_weights=False):
    return Control.attention(
        query, key, value, mask=mask, bias=bias, is_causal=is_causal, return_weights=return_weights
    )
