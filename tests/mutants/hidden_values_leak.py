"""NaN in a hidden value reaches the output as 0·NaN, which is not declared."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "convention.masked_nonfinite"
REPORTS = ("D2",)


class Mutant(Steps):
    def weighted(self, weights, visible):
        return weights @ self.per_query_head(self.value)


attention = Mutant.attention
