"""Where there is a cache one query is expected: the tokens of a longer chunk see each other."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.prefill"
REPORTS = ("B19",)


class Mutant(Cache):
    def visible(self, query, key):
        end = query.max(axis=1, keepdims=True) + np.zeros_like(query)
        return super().visible(end, key)


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
