"""Values beyond the last key are left out."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.lengths"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("lengths",)

    def weighted(self, weights, visible):
        self.value = self.value[:, :, : self.shape[3]]
        return super().weighted(weights, visible)


attention = Mutant.attention
