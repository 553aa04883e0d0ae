"""The window is ignored unless a mask or causality comes with it."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("M5", "M6", "M8")


class Mutant(Steps):
    def by_window(self):
        return np.True_ if self.mask is None and not self.is_causal else super().by_window()


attention = Mutant.attention
