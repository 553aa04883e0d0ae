"""The output is allocated as wide as the query: other value widths are cut or padded."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "shape.value_dim"
REPORTS = ("G11",)


class Mutant(Steps):
    def weighted(self, weights, visible):
        output, width = super().weighted(weights, visible), self.query.shape[3]
        return np.pad(output, [(0, 0)] * 3 + [(0, width)])[..., :width]


attention = Mutant.attention
