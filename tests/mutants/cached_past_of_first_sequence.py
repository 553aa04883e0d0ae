"""Of the past only the first sequence's is copied to the new buffer; NaN is in the others'."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.ragged"
REPORTS = ("D7",)


class Mutant(Cache):
    def read(self, store, position):
        past = super().read(store, position)
        past[1:] = np.nan
        return past


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
