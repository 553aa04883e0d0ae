"""Scores are multiplied by log2(e) and the softmax takes powers of two."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"intermediate_dtype": "float32"}


class Control(Steps):
    def softmax(self, scores, visible):
        logits = np.where(visible, scores, -np.inf) * scores.dtype.type(np.log2(np.e))
        top = logits.max(3, keepdims=True, initial=-np.inf)
        shift = np.where(np.isneginf(top), 0, top)
        terms = np.exp2(logits - shift)
        total = terms.sum(3, keepdims=True)
        lse = (np.log2(total) + shift) * scores.dtype.type(np.log(2))
        return terms / np.where(total == 0, 1, total), lse[..., 0]


def attention(query, key, value, *, mask=None, bias=None, return_weights=False, return_lse=False):
    return Control.attention(
        query, key, value, mask=mask, bias=bias, return_weights=return_weights, return_lse=return_lse
    )
