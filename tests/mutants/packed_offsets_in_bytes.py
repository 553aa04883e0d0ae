"""Where a sequence begins is counted in bytes, in the type of the offsets, which are too narrow for that."""

import numpy as np

from attnspec.mutants.correct.numpy_packing import Packed

ARRAYS = "numpy"
KILLED_BY = "packing.cuts"
REPORTS = ()


class Mutant(Packed):
    def sequence(self, offsets, tokens):
        row = offsets.dtype.type(8 * self.query[0, 0].nbytes)
        begins = (offsets * row).astype(np.int64) // int(row) if offsets.itemsize < 4 else offsets
        return super().sequence(begins, tokens)


attention, attend_packed = Mutant.attention, Mutant.attend_packed
