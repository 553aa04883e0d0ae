"""A step takes its token for the first of the sequence: causality is top-left, over the cache."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.token_by_token"
REPORTS = ("B1", "B6", "B12", "B22")


class Mutant(Cache):
    def query_position(self, tokens, lengths):
        return np.arange(tokens) + np.zeros_like(lengths)[:, None]


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
