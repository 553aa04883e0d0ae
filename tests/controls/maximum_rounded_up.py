"""Each row's maximum is rounded up to a whole number before it is subtracted."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"


class Control(Steps):
    def top(self, logits):
        return np.ceil(super().top(logits))


def attention(query, key, value, *, mask=None, sinks=None, return_weights=False, return_lse=False):
    return Control.attention(
        query, key, value, mask=mask, sinks=sinks, return_weights=return_weights, return_lse=return_lse
    )
