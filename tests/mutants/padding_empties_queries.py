"""Padding of the keys hides all keys from the padded queries too."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.broadcast"
REPORTS = ("A6",)


class Mutant(Steps):
    def by_mask(self):
        padding = self.mask is not None and self.mask.ndim > 1 and self.mask.shape[-2] == 1
        if padding and self.shape[2] == self.shape[3] == self.mask.shape[-1]:
            return self.mask & self.mask.swapaxes(-1, -2)
        return super().by_mask()


attention = Mutant.attention
