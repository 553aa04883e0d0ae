"""The cap is s·tanh(s) instead of c·tanh(s/c)."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("J6",)


class Mutant(Steps):
    def capped(self, scores):
        return scores * np.tanh(scores) if self.softcap else scores


attention = Mutant.attention
