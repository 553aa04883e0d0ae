"""The window reaches one key further ahead than asked."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "influence.keys"
REPORTS = ()


class Mutant(Steps):
    def by_window(self):
        left, right = self.window or (None, None)
        if right is None:
            return super().by_window()
        inside = self.behind() >= -right - 1
        return inside if left is None else np.logical_and(inside, self.behind() <= left)


attention = Mutant.attention
