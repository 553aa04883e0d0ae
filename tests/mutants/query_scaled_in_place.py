"""The query is multiplied by the scale in place."""

import math

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.inputs_unchanged"
REPORTS = ("P5",)


def attention(query, key, value, *, mask=None, scale=None):
    query *= np.asarray(1 / math.sqrt(query.shape[-1] or 1) if scale is None else scale, query.dtype)
    return Steps.attention(query, key, value, mask=mask, scale=1.0)
