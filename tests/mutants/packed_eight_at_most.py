"""A table has room for eight sequences; the tokens of those behind count as the eighth's."""

import numpy as np

from attnspec.mutants.correct.numpy_packing import Packed

ARRAYS = "numpy"
KILLED_BY = "packing.cuts"
REPORTS = ()


class Mutant(Packed):
    def sequence(self, offsets, tokens):
        return np.minimum(super().sequence(offsets, tokens), 7)


attention, attend_packed = Mutant.attention, Mutant.attend_packed
