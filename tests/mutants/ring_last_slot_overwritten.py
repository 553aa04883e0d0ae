"""Once as many tokens came as the window has, each new one takes the last slot, and none moves up."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.around_the_window"
REPORTS = ("O6",)


class Mutant(Cache):
    def slot(self, position):
        return np.minimum(position, self.slots - 1)


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
