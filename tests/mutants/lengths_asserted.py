"""What refuses a value longer than its key is an assertion, which python -O leaves out."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.lengths"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("lengths",)

    def weighted(self, weights, visible):
        assert self.value.shape[2] == self.shape[3]
        return super().weighted(weights, visible)


attention = Mutant.attention
