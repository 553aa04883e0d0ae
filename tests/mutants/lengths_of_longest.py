"""Every sample is cut at the longest sample's length."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.hidden_is_unread"
REPORTS = ()


class Mutant(Steps):
    def by_length(self):
        if self.key_lengths is not None:
            self.key_lengths = np.full_like(self.key_lengths, self.key_lengths.max(initial=0))
        return super().by_length()


attention = Mutant.attention
