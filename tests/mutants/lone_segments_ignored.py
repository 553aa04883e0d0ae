"""Segments of one side alone are ignored."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.segments"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("segments",)

    def by_segment(self):
        return np.True_ if self.key_segments is None else super().by_segment()


attention = Mutant.attention
