"""The exponents of the ALiBi slopes begin at 0: the first head's slope is 1."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.alibi_slopes"
REPORTS = ("N8",)


def make_alibi_slopes(heads):
    slopes = numpy_positions.make_alibi_slopes(heads)
    return np.concatenate([[1.0], slopes[:-1]]).astype(np.float32)


attention = numpy_positions.attention
