"""Values beyond the window are multiplied with weight 0, so that NaN there shows."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "convention.masked_nonfinite"
REPORTS = ("D3",)


class Mutant(Steps):
    def weighted(self, weights, visible):
        return weights @ self.per_query_head(self.value) if self.window else super().weighted(weights, visible)


attention = Mutant.attention
