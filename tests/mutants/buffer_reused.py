"""The output is a buffer that the next call of the same shape overwrites."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.history"
REPORTS = ()

BUFFERS = {}


class Mutant(Steps):
    def finish(self, output, weights, lse):
        results = super().finish(output, weights, lse)
        if isinstance(results, tuple):
            return results
        buffer = BUFFERS.setdefault((results.dtype, results.shape), np.empty_like(results))
        buffer[...] = results
        return buffer


attention = Mutant.attention
