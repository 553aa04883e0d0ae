"""All caches of equal sizes share one store."""

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.independent"
REPORTS = ("O5",)

STORES = {}


class Mutant(Cache):
    def unused(self, shape, dtype):
        return STORES.setdefault(
            (shape, dtype, "value" if hasattr(self, "key") else "key"), super().unused(shape, dtype)
        )


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
