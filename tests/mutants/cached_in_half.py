"""The cache holds half precision whatever dtype was asked for."""

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.token_by_token"
REPORTS = ()


class Mutant(Cache):
    def unused(self, shape, dtype):
        return super().unused(shape, "float16")


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
