"""The padding of a chunk is appended as if it were tokens."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.padding_unread"
REPORTS = ("O15",)


class Mutant(Cache):
    def slot_count(self):
        return 4 * self.capacity if self.window is None else self.window

    def step(self, query, key, value, lengths, scale):
        return super().step(query, key, value, np.full_like(lengths, query.shape[2]), scale)

    def check_room(self, lengths):
        pass


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
