"""Sinks are taken and ignored where a window is given."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "influence.options"
REPORTS = ()


class Mutant(Steps):
    def run(self):
        self.sinks = None if self.window is not None else self.sinks
        return super().run()


attention = Mutant.attention
