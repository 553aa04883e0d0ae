"""When a later tile raises the maximum, the output so far is not rescaled."""

import numpy as np

from attnspec.mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"value_range": "sum"}
KILLED_BY = "symmetry.key_permutation"
REPORTS = ()


class Mutant(Tiles):
    def step(self, state, scores, visible, value):
        new, total, output = super().step(state, scores, visible, value)
        shrink = np.exp(state[0] - np.where(np.isneginf(new), 0, new))
        return new, total, output + state[2] * (1 - shrink)


attention = Mutant.attention
