"""The last tile of four keys is read whole, past the end of the values, and gets weights of 0."""

from attnspec.mutants.correct._memory import rows_beyond
from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.guard_bands"
REPORTS = ("H12",)


class Mutant(Steps):
    def __init__(self, query, key, value, options):
        super().__init__(query, key, value, options)
        self.beyond = rows_beyond(value, -value.shape[-2] % 4)

    def weighted(self, weights, visible):
        output = super().weighted(weights, visible)
        return output if self.beyond is None else output + 0 * self.beyond.astype(output.dtype).sum()


attention = Mutant.attention
