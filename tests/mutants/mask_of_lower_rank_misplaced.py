"""A mask (L, S) is taken for one row of keys per sample: only its first row is read."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.broadcast"
REPORTS = ("C22", "C23", "C24")


class Mutant(Steps):
    def by_mask(self):
        return self.mask[:1] if self.mask is not None and self.mask.ndim == 2 else super().by_mask()


attention = Mutant.attention
