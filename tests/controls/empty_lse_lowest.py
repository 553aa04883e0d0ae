"""The log-sum-exp of a query without a visible key is the lowest number, declared."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"empty_row_lse": "lowest"}


class Control(Steps):
    def finish(self, output, weights, lse):
        return super().finish(output, weights, np.where(np.isneginf(lse), np.finfo(lse.dtype).min, lse))


def attention(query, key, value, *, mask=None, key_lengths=None, return_lse=False):
    return Control.attention(query, key, value, mask=mask, key_lengths=key_lengths, return_lse=return_lse)
