"""All sequences of a batch lose the same."""

import numpy as np

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.dropout"
REPORTS = ()


def dropout(x, rate, seed):
    if seed is None:
        return x
    return x * (layers.dropout(np.ones_like(x[:1]), rate, seed))
