"""The scale is multiplied by log2(e) again for every tile of keys."""

import numpy as np

from attnspec.mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"value_range": "sum"}
KILLED_BY = "definition.output"
REPORTS = ("E8",)


class Mutant(Tiles):
    def scores(self):
        tile = np.arange(self.shape[3]) // self.SIZE
        return super().scores() * (1.4427**tile).astype(self.query.dtype)


attention = Mutant.attention
