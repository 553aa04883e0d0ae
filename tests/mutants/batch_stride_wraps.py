"""The offset of a sample is too narrow a number and wraps: queries of other samples are read."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "symmetry.batch_independence"
REPORTS = ("K13", "K14")


class Mutant(Steps):
    def scores(self):
        batch, stride = self.shape[0], self.query[:1].size
        start = np.arange(batch)[:, None] * stride % 16
        self.query = self.query.ravel()[start + np.arange(stride)].reshape(self.query.shape)
        return super().scores()


attention = Mutant.attention
