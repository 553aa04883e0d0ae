"""The ALiBi distance has a sign, so keys ahead are rewarded."""

import numpy as np
from mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("N14",)


class Mutant(Steps):
    def behind(self):
        return super().behind().view(Signed)


class Signed(np.ndarray):
    def __abs__(self):
        return np.asarray(self)


attention = Mutant.attention
