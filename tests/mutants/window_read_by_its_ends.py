"""A window's first and last numbers are its bounds, however many there are."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.window"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("window",)

    def by_window(self):
        self.window = self.window and (self.window[0], self.window[-1])
        return super().by_window()


attention = Mutant.attention
