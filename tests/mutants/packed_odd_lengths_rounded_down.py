"""Sequences of an odd number of keys lose the last one."""

import numpy as np

from attnspec.mutants.correct.numpy_packing import Packed

ARRAYS = "numpy"
KILLED_BY = "packing.alone"
REPORTS = ("O12",)


class Mutant(Packed):
    def by_segment(self):
        length = np.diff(self.key_offsets)[self.key_sequence()]
        return super().by_segment() & (self.place(self.key_offsets, self.shape[3]) < np.maximum(length // 2 * 2, 1))


attention, attend_packed = Mutant.attention, Mutant.attend_packed
