"""Sequences of equal lengths are cut out by a reshape with its axes the wrong way round: tokens are interleaved."""

import numpy as np

from attnspec.mutants.correct.numpy_packing import Packed

ARRAYS = "numpy"
KILLED_BY = "packing.cuts"
REPORTS = ()


class Mutant(Packed):
    def sequence(self, offsets, tokens):
        lengths, count = np.diff(offsets), len(offsets) - 1
        if count > 1 and lengths[0] and (lengths == lengths[0]).all():
            return np.arange(tokens) % count
        return super().sequence(offsets, tokens)


attention, attend_packed = Mutant.attention, Mutant.attend_packed
