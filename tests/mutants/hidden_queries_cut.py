"""Rows past the longest key length are cut off the output."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "shape.output"
REPORTS = ("H16",)


class Mutant(Steps):
    def finish(self, output, weights, lse):
        if self.key_lengths is not None and self.shape[2] == self.shape[3]:
            output = output[:, :, : max(self.key_lengths.max(initial=0), 1)]
        return super().finish(output, weights, lse)


attention = Mutant.attention
