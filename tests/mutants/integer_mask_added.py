"""A mask that is not boolean is added to the scores."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.mask_dtype"
REPORTS = ("C9",)


class Mutant(Steps):
    UNCHECKED = ("mask_dtype",)

    def by_mask(self):
        return np.True_ if self.is_added() else super().by_mask()

    def added(self, scores):
        return super().added(scores) + (self.mask if self.is_added() else 0)

    def is_added(self):
        return self.mask is not None and self.mask.dtype != bool


attention = Mutant.attention
