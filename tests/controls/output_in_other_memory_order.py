"""The output's memory is ordered with the heads last, its shape is not."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
REPORTS = ("J8",)


def attention(query, key, value, *, mask=None):
    return np.asfortranarray(Steps.attention(query, key, value, mask=mask))
