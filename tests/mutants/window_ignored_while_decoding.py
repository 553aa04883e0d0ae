"""The cache holds more than the window, which holds in longer chunks only: a step sees all."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
KILLED_BY = "caching.token_by_token"
REPORTS = ("M8",)


class Mutant(Cache):
    def slot_count(self):
        return 4 * self.window if self.window else self.capacity

    def visible(self, query, key):
        visible = super().visible(query, key)
        return (key >= 0)[:, None] & np.True_ if query.shape[1] == 1 else visible


attention, make_cache, attend_cached = Mutant.attention, Mutant.make_cache, Mutant.attend_cached
