"""One dropout mask serves all heads."""

import numpy as np

from attnspec.mutants.correct.numpy_dropout import Dropping

ARRAYS = "numpy"
KILLED_BY = "dropout.apart"
REPORTS = ()


class Mutant(Dropping):
    def kept(self, shape):
        return np.broadcast_to(super().kept((shape[0], 1, *shape[2:])), shape)


attention = Mutant.attention
