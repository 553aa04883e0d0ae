"""The memory of key and value is read as numbers of the query's dtype."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.dtypes"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("dtypes",)

    def lifted(self, array):
        memory = np.frombuffer(array.tobytes(), self.dtype)
        return super().lifted(np.resize(memory, array.shape))


attention = Mutant.attention
