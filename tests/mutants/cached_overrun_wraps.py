"""Tokens beyond the capacity silently take the places of the first ones."""

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.overrun"
REPORTS = ()


class Mutant(Cache):
    def check_room(self, lengths):
        pass

    def slot(self, position):
        return position % self.slots


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
