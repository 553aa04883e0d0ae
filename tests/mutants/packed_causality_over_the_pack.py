"""Causality counts queries and keys through the pack, which differ where lengths do."""

import numpy as np

from attnspec.mutants.correct.numpy_packing import Packed

ARRAYS = "numpy"
KILLED_BY = "packing.causality"
REPORTS = ()


class Mutant(Packed):
    def by_causality(self):
        over_all = np.arange(self.shape[2])[:, None] - np.arange(self.shape[3])
        return over_all >= 0 if self.is_causal else np.True_


attention, attend_packed = Mutant.attention, Mutant.attend_packed
