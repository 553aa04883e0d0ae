"""A given mask overrides the segments: packed samples see each other."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.trivial_mask"
REPORTS = ("O11",)


class Mutant(Steps):
    def by_segment(self):
        return super().by_segment() if self.mask is None else np.True_


attention = Mutant.attention
