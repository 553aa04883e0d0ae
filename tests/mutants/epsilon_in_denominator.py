"""A small number is added to the denominator against division by 0."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "softmax.constant_value"
REPORTS = ()


class Mutant(Steps):
    def sink_term(self, shift):
        return super().sink_term(shift) + 1e-6


attention = Mutant.attention
