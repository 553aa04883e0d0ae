"""The offsets are dropped on the way: packed sequences see each other."""

import numpy as np

from attnspec.mutants.correct.numpy_packing import Packed

ARRAYS = "numpy"
KILLED_BY = "packing.alone"
REPORTS = ("O10", "O13")


class Mutant(Packed):
    def by_segment(self):
        return np.True_


attention, attend_packed = Mutant.attention, Mutant.attend_packed
