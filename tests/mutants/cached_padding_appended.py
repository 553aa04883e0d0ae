"""The padding of a chunk is appended as if it were tokens."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.padding_unread"
REPORTS = ("O15",)


class Mutant(Cache):
    def step(self, query, key, value, lengths, scale):
        room = self.capacity - self.length if self.window is None else query.shape[2]
        return super().step(query, key, value, np.minimum(query.shape[2], np.maximum(room, lengths)), scale)


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
