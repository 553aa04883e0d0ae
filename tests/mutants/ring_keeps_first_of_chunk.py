"""Of a chunk longer than the window the ring keeps the first tokens."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.around_the_window"
REPORTS = ("O4",)


class Mutant(Cache):
    def write(self, key, value, lengths):
        if self.window:
            key, value = self.shifted(key, lengths), self.shifted(value, lengths)
        super().write(key, value, lengths)

    def shifted(self, array, lengths):
        """Each sequence's first tokens, put where the last ones are."""
        shifted = np.array(array)
        for b in range(len(array)):
            surplus = max(lengths[b] - self.slots, 0)
            shifted[b, :, surplus:] = array[b, :, : array.shape[2] - surplus]
        return shifted


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
