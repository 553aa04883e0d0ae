"""An axis with a stride of 0 is read for its first index only."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.views"
REPORTS = ("H5",)


class Mutant(Steps):
    def lifted(self, array):
        spread = [s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)]
        first = np.zeros(array.shape, array.dtype)
        place = tuple(slice(0, 1) if once else slice(None) for once in spread)
        first[place] = array[place]
        return super().lifted(first)


attention = Mutant.attention
