"""The scale is always 0.5."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("E7",)


class Mutant(Steps):
    def default_scale(self):
        return 0.5


attention = Mutant.attention
