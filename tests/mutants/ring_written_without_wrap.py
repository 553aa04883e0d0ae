"""A chunk that does not fit before the end of the ring is written to its beginning."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.chunks"
REPORTS = ("O4",)


class Mutant(Cache):
    def write(self, key, value, lengths):
        length = self.length
        for_all = np.array([self.start(b, lengths[b]) for b in range(len(key))])
        self.length = for_all
        super().write(key, value, lengths)
        self.length = length

    def start(self, sequence, tokens):
        start = self.length[sequence]
        wraps = self.window and start % self.slots + tokens > self.slots
        return 0 if wraps else start


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
