"""The address of the seed's holder is used as the seed."""

import numpy as np

from attnspec.mutants.correct.numpy_dropout import Dropping

ARRAYS = "numpy"
KILLED_BY = "dropout.seed"
REPORTS = ("I10",)

HELD = []


class Mutant(Dropping):
    def rng(self):
        HELD.append([self.seed])  # another object, another address
        return np.random.default_rng(id(HELD[-1]))


attention = Mutant.attention
