"""Half-precision inputs give a float32 output."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "shape.dtype"
REPORTS = ("P2",)


class Mutant(Steps):
    def finish(self, output, weights, lse):
        self.dtype = self.query.dtype
        return super().finish(output, weights, lse)


attention = Mutant.attention
