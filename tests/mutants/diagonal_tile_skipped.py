"""Under causality the loop over key tiles ends one key too early in each row of tiles."""

import numpy as np

from attnspec.mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"value_range": "sum"}
KILLED_BY = "masking.causal_is_mask"
REPORTS = ("B17",)


class Mutant(Tiles):
    def by_causality(self):
        rows = np.arange(self.shape[2])[:, None]
        last = np.maximum(rows // self.SIZE * self.SIZE, 1)
        return super().by_causality() & (np.arange(self.shape[3]) < last) if self.is_causal else np.True_


attention = Mutant.attention
