"""The relative bias is laid out by a shift for causal attention: ahead of the query it holds other rows' entries."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.relative_bias"
REPORTS = ("N14",)


def relative_bias(table, queries, keys):
    if queries != keys:
        return numpy_positions.relative_bias(table, queries, keys)
    behind = numpy_positions.relative_bias(table, queries, keys)[:, -1:]  # (H, 1, L): distances 1 - L to 0
    rows = np.repeat(behind, queries, axis=1)
    padded = np.pad(rows, ((0, 0), (0, 0), (1, 0)))  # (H, L, L + 1)
    return padded.reshape(-1, keys + 1, queries)[:, 1:].reshape(rows.shape)


attention = numpy_positions.attention
