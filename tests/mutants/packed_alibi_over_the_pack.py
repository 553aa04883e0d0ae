"""ALiBi counts positions through the pack, not within each sequence."""

import numpy as np

from attnspec.mutants.correct.numpy_packing import Packed

ARRAYS = "numpy"
KILLED_BY = "packing.alone"
REPORTS = ()


class Mutant(Packed):
    def distance(self):
        return np.abs(np.arange(self.shape[2])[:, None] - np.arange(self.shape[3]))


attention, attend_packed = Mutant.attention, Mutant.attend_packed
