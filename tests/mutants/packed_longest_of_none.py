"""The length of the longest sequence is looked for, and a pack without sequences has none."""

import numpy as np

from attnspec.mutants.correct.numpy_packing import Packed

ARRAYS = "numpy"
KILLED_BY = "packing.cuts"
REPORTS = ()
RAISES = True


class Mutant(Packed):
    def by_segment(self):
        tokens = np.diff(self.query_offsets).max()
        assert tokens <= self.shape[2]
        return super().by_segment()


attention, attend_packed = Mutant.attention, Mutant.attend_packed
