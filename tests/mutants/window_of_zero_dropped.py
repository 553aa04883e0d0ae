"""A window of 0 is taken for none."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.window"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("window",)


attention = Mutant.attention
