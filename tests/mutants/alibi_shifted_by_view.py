"""Distances are laid out by a causal pad-and-view trick: ahead of the query they are another row's."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("N13", "N14")


class Mutant(Steps):
    def distance(self):
        behind = self.behind()
        ahead = np.where(behind == -1, 0, self.shape[3] + 1 + behind)
        return np.where(behind >= 0, behind, ahead)


attention = Mutant.attention
