"""The log-sum-exp of a query without a visible key is 0, declared."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"empty_row_lse": "zero"}


class Control(Steps):
    def finish(self, output, weights, lse):
        return super().finish(output, weights, np.where(np.isneginf(lse), 0, lse))


def attention(query, key, value, *, mask=None, is_causal=False, return_lse=False):
    return Control.attention(query, key, value, mask=mask, is_causal=is_causal, return_lse=return_lse)
