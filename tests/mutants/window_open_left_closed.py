"""A window that is open to the left is read as one that ends at the query."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ()


class Mutant(Steps):
    def by_window(self):
        left, right = self.window or (None, None)
        self.window = (left or 0, right) if self.window else None
        return super().by_window()


attention = Mutant.attention
