"""The ALiBi slopes are one geometric series for every number of heads, which is not declared."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "convention.alibi_rule"
REPORTS = ("N7",)


def make_alibi_slopes(heads):
    return numpy_positions.geometric(heads).astype(np.float32)


attention = numpy_positions.attention
