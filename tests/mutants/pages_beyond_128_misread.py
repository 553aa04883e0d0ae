"""In pages of more than 128 tokens the row before is read."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.block_size"
REPORTS = ("H15",)


class Mutant(Cache):
    def read(self, store, position):
        return super().read(np.roll(store, 1, axis=1) if (self.block_size or 0) > 128 else store, position)


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
