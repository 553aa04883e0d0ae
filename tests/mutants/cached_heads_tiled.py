"""A step hands the key/value heads out in turn, instead of each to a group of query heads."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.token_by_token"
REPORTS = ()


class Mutant(Cache):
    def average(self, query, keys, values, visible, scale):
        groups = (1, query.shape[1] // keys.shape[1], 1, 1)
        return super().average(query, np.tile(keys, groups), np.tile(values, groups), visible, scale)


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
