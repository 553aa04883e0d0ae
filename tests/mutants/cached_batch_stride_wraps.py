"""From the third slot on the offset of a sequence wraps: another one's row is written."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.ragged"
REPORTS = ("K14",)


class Mutant(Cache):
    def write(self, key, value, lengths):
        before = self.key.copy(), self.value.copy()
        super().write(key, value, lengths)
        for store, old in zip((self.key, self.value), before, strict=True):
            store[:, 2:] = np.where(store[:, 2:] != old[:, 2:], np.roll(store, 1, axis=0)[:, 2:], old[:, 2:])


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
