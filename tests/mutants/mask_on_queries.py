"""A padding mask over the keys lies on the query axis: no key is hidden."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.masked_is_removed"
REPORTS = ("C17", "C27")


class Mutant(Steps):
    def by_mask(self):
        if self.mask is None or self.shape[2] != self.shape[3] or self.mask.ndim < 2:
            return super().by_mask()
        return self.mask.swapaxes(-1, -2)


attention = Mutant.attention
