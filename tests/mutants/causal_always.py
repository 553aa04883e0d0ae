"""Causality cannot be switched off."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("B23",)


class Mutant(Steps):
    def by_causality(self):
        return self.behind() >= 0


attention = Mutant.attention
