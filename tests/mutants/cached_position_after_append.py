"""The positions of a chunk are counted after it has joined the cache."""

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.chunks"
REPORTS = ("N5",)


class Mutant(Cache):
    def query_position(self, tokens, lengths):
        return super().query_position(tokens, lengths) + tokens


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
