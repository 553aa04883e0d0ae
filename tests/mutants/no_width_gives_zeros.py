"""A key width of 0 leaves early with zeros instead of the mean of the values."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "shape.zero_size"
REPORTS = ("H6",)


class Mutant(Steps):
    def weighted(self, weights, visible):
        output = super().weighted(weights, visible)
        return output if self.query.size else 0 * output


attention = Mutant.attention
