"""Padding is hidden by weights of 0 alone: NaN in what lies behind a sequence's end shows through."""

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.padding_unread"
REPORTS = ("D2",)


class Mutant(Cache):
    def without_padding(self, array, lengths):
        return array

    def weighted(self, weights, values, visible):
        return weights @ values


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
