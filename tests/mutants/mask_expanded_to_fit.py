"""A mask (B, S), which does not broadcast, is expanded along the axes where it fits."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.mask_shape"
REPORTS = ("C23",)


class Mutant(Steps):
    UNCHECKED = ("mask_shape",)

    def by_mask(self):
        if self.mask is not None and self.mask.shape == (self.shape[0], self.shape[3]):
            return self.mask[:, None, None]
        return super().by_mask()


attention = Mutant.attention
