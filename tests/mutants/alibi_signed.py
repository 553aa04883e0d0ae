"""The ALiBi distance has a sign, so keys ahead are rewarded."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ()


class Mutant(Steps):
    def distance(self):
        return self.behind()


attention = Mutant.attention
