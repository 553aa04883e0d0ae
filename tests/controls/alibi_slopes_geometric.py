"""The ALiBi slopes are one geometric series for every number of heads, declared."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
CONVENTIONS = {"alibi_rule": "geometric"}
REPORTS = ("N9",)


def make_alibi_slopes(heads):
    return numpy_positions.geometric(heads).astype(np.float32)


attention = numpy_positions.attention
