"""All sequences share the positions of the longest."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.ragged"
REPORTS = ("N21", "O16")


class Mutant(Cache):
    def query_position(self, tokens, lengths):
        return np.maximum.reduce(super().query_position(tokens, lengths), axis=0, keepdims=True).repeat(len(lengths), 0)


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
