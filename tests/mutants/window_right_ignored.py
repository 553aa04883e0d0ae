"""The window's right bound is ignored."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("M7",)


class Mutant(Steps):
    def by_window(self):
        self.window = self.window and (self.window[0], None)
        return super().by_window()


attention = Mutant.attention
