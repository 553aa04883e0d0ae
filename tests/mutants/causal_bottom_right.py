"""Causality ends at the last key, which is not declared."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "convention.causal_alignment"
REPORTS = ("B2", "B5")


class Mutant(Steps):
    def offset(self):
        return self.shape[3] - self.shape[2]


attention = Mutant.attention
