"""The weights that dropout keeps are not made larger."""

import numpy as np

from attnspec.mutants.correct.numpy_dropout import Dropping

ARRAYS = "numpy"
KILLED_BY = "dropout.zero_or_scaled"
REPORTS = ()


class Mutant(Dropping):
    def dropped(self, weights):
        return np.where(self.kept(weights.shape), weights, 0)


attention = Mutant.attention
