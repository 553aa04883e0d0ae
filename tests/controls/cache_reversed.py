"""The last token comes first in the store and in the sums, and padding is appended with it, as NaN, and never read."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"


class Reversed(Cache):
    def unused(self, shape, dtype):
        return np.full(shape, np.nan, dtype)

    def without_padding(self, array, lengths):
        return array

    def slot(self, position):
        return self.slots - 1 - super().slot(position)

    def joined(self, key, value, lengths):
        keys, values, position = super().joined(key, value, lengths)
        return keys[:, :, ::-1], values[:, :, ::-1], position[:, ::-1]


attention, make_cache, attend_cached = Reversed.attention, Reversed.make_cache, Reversed.attend_cached
