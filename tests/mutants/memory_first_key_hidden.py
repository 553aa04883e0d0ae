"""With more keys than queries the first is taken for one behind the memory, and hidden."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("N15",)


class Mutant(Steps):
    def by_causality(self):
        behind_memory = (np.arange(self.shape[3]) == 0) & (self.shape[3] > self.shape[2])
        return super().by_causality() & ~behind_memory


attention = Mutant.attention
