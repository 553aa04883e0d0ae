"""The first key past a length is still seen."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.hidden_is_unread"
REPORTS = ()


class Mutant(Steps):
    def by_length(self):
        self.key_lengths = None if self.key_lengths is None else self.key_lengths + 1
        return super().by_length()


attention = Mutant.attention
