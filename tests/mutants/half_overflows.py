"""Unscaled products are kept in half precision and overflow, though float32 is declared."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"intermediate_dtype": "float32"}
KILLED_BY = "convention.intermediate_dtype"
REPORTS = ("K2", "K3", "K4")


class Mutant(Steps):
    def scores(self):
        factor = self.default_scale() if self.scale is None else self.scale
        unscaled = (self.query @ self.per_query_head(self.key).swapaxes(2, 3)).astype(self.dtype)
        return unscaled.astype(self.query.dtype) * factor


attention = Mutant.attention
