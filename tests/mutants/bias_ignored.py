"""The bias is ignored unless a mask comes with it."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("C6",)


class Mutant(Steps):
    def run(self):
        self.bias = self.bias if self.mask is not None else None
        return super().run()


attention = Mutant.attention
