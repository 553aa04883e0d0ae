"""A token sees one more than the window's tokens: the one that is about to be overwritten."""

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.around_the_window"
REPORTS = ("M2", "M4")


class Mutant(Cache):
    def visible(self, query, key):
        behind = query[:, :, None] - key[:, None]
        visible = (key >= 0)[:, None] & (behind >= 0)
        return visible & (behind <= self.window) if self.window else visible


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
