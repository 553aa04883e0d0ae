"""All heads take the first head's mask."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("C20",)


class Mutant(Steps):
    def by_mask(self):
        if self.mask is None or self.mask.ndim < 3:
            return super().by_mask()
        return self.mask[..., :1, :, :]


attention = Mutant.attention
