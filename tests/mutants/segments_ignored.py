"""Segment ids are dropped on the way."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.hidden_is_unread"
REPORTS = ("O10", "O13")


class Mutant(Steps):
    def by_segment(self):
        return np.True_


attention = Mutant.attention
