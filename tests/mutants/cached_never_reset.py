"""For equal sizes the cache of the last sequence is given out again as it is."""

import functools

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.starts_empty"
REPORTS = ("O5",)


class Mutant(Cache):
    def slot_count(self):
        return 8 * (self.window or self.capacity)

    def slot(self, position):
        return position % self.slots

    def check_room(self, lengths):
        pass


attention, attend_cached = Mutant.attention, Mutant.attend_cached
make_cache = functools.lru_cache(Mutant.make_cache)
