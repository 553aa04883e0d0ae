"""The result is of the query's dtype, even of integers."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.integers"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("integers",)


attention = Mutant.attention
