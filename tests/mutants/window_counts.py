"""The window's left bound counts the keys in all, which is not declared."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "convention.window"
REPORTS = ("M2", "M4")


class Mutant(Steps):
    def by_window(self):
        left, right = self.window or (None, None)
        self.window = (left if left is None else left - 1, right)
        return super().by_window()


attention = Mutant.attention
