"""A partial rotation takes the first frequencies of a full one."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.rotary_partial"
REPORTS = ()


class Mutant(numpy_positions.Rotary):
    def frequencies(self, x):
        return self.base ** -(np.arange(0, self.width, 2) / max(x.shape[3], 1))


attention = numpy_positions.attention
rotary_embedding = Mutant.rotary_embedding
