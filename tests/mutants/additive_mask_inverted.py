"""A bias of 0 and -inf is read as 0 for hidden and anything else for visible."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.bias_is_mask"
REPORTS = ("C5",)


class Mutant(Steps):
    def added(self, scores):
        return scores if self.bias is None else np.where(self.bias == 0, scores - 1e9, scores)

    def by_bias(self):
        return np.True_


attention = Mutant.attention
