"""A bias in single precision is rounded to the inputs' half precision."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ()


class Mutant(Steps):
    def added(self, scores):
        if self.bias is not None:
            self.bias = (100 * self.bias).astype(self.dtype) / 100
        return super().added(scores)


attention = Mutant.attention
