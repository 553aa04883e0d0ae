"""The caches of a batch are merged by padding on the left, which moves the keys of shorter ones."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.ragged"
REPORTS = ("O8",)


class Mutant(Cache):
    def joined(self, key, value, lengths):
        keys, values, position = super().joined(key, value, lengths)
        padding = (self.length.max() - self.length)[:, None]
        held = np.arange(position.shape[1]) < self.slots
        return keys, values, np.where(held & (position >= 0), position + padding, position)


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
