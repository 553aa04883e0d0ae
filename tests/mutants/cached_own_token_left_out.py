"""A step attends to what the cache held before it, not to its own token."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.first_token"
REPORTS = ("O3",)


class Mutant(Cache):
    def average(self, query, keys, values, visible, scale):
        return np.nan_to_num(super().average(query, keys, values, visible, scale))

    def visible(self, query, key):
        return super().visible(query, key) & (query[:, :, None] > key[:, None])


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
