"""Causality is written into the caller's mask."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.inputs_unchanged"
REPORTS = ()


class Mutant(Steps):
    def by_mask(self):
        if self.mask is not None and self.is_causal and self.mask.shape[-2:] == self.shape[2:]:
            self.mask &= self.by_causality()
        return super().by_mask()


attention = Mutant.attention
