"""The last page is read to its end, whether it is full or not."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.token_by_token"
REPORTS = ()


class Mutant(Cache):
    def held(self):
        if not self.block_size:
            return super().held()
        length = self.length
        self.length = np.minimum(-(-length // self.block_size) * self.block_size, self.slots)
        held = super().held()
        self.length = length
        return np.where(held < length[:, None], held, 0)


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
