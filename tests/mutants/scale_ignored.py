"""A given scale is ignored."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ()


class Mutant(Steps):
    def scores(self):
        self.scale = None
        return super().scores()


attention = Mutant.attention
