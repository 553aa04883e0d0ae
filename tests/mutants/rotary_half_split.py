"""Pairs stand half the width apart, which is not declared."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "convention.rotary_layout"
REPORTS = ()


class Mutant(numpy_positions.Rotary):
    def pairs(self, x):
        return np.split(x, 2, axis=-1)

    def joined(self, first, second):
        return np.concatenate([first, second], axis=-1)


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
