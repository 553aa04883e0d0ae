"""The key lengths are ignored."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.hidden_is_unread"
REPORTS = ("C28", "O15")


class Mutant(Steps):
    def by_length(self):
        return np.True_


attention = Mutant.attention
