"""The window is applied after the product with the values: 0·NaN."""

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.evicted"
REPORTS = ("D3",)


class Mutant(Cache):
    def weighted(self, weights, values, visible):
        return weights @ values


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
