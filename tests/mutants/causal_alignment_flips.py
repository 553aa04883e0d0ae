"""Causality ends at the last key as declared, but starts at the first when there are more queries than keys."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"causal_alignment": "bottom-right"}
KILLED_BY = "masking.causal_is_mask"
REPORTS = ("B3", "A11")


class Mutant(Steps):
    def offset(self):
        return max(self.shape[3] - self.shape[2], 0)


attention = Mutant.attention
