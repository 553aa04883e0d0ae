"""The first token of a sequence is counted to the one before it."""

import numpy as np

from attnspec.mutants.correct.numpy_packing import Packed

ARRAYS = "numpy"
KILLED_BY = "packing.segments"
REPORTS = ()


class Mutant(Packed):
    def sequence(self, offsets, tokens):
        return np.searchsorted(offsets[1:-1], np.arange(tokens), side="left")


attention, attend_packed = Mutant.attention, Mutant.attend_packed
