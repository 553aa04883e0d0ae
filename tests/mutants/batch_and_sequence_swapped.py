"""Batch and sequence axes change places: samples attend to each other."""

from mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "symmetry.batch_independence"
REPORTS = ("G6",)


class Mutant(Steps):
    def run(self):
        if self.shape[2] == self.shape[3] and self.mask is self.bias is self.key_lengths is self.query_segments is None:
            self.query, self.key, self.value = (a.swapaxes(0, 2) for a in (self.query, self.key, self.value))
            self.shape = (self.shape[2], self.shape[1], self.shape[0], self.shape[0])
            self.swapped = True
        return super().run()

    def finish(self, output, weights, lse):
        output = output.swapaxes(0, 2) if hasattr(self, "swapped") else output
        return super().finish(output, weights, lse)


attention = Mutant.attention
