"""A scale of 0 is taken for none given."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ()


class Mutant(Steps):
    def __init__(self, query, key, value, options):
        super().__init__(query, key, value, options)
        self.scale = self.scale or None


attention = Mutant.attention
