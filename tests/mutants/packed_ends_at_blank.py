"""A sequence without a token is taken for the end of the pack."""

import numpy as np

from attnspec.mutants.correct.numpy_packing import Packed

ARRAYS = "numpy"
KILLED_BY = "packing.blank"
REPORTS = ()


class Mutant(Packed):
    def finish(self, output, weights, lse):
        blank = np.diff(self.query_offsets) + np.diff(self.key_offsets) == 0
        before = self.query_sequence() < np.append(np.flatnonzero(blank), len(blank))[0]
        return super().finish(np.where(before[:, None], output, 0), weights, lse)


attention, attend_packed = Mutant.attention, Mutant.attend_packed
