"""A bias of -inf is clipped to -30."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.bias_is_mask"
REPORTS = ()


class Mutant(Steps):
    def by_bias(self):
        if self.bias is not None:
            self.bias = np.maximum(self.bias, np.asarray(-30, self.bias.dtype))
        return np.True_


attention = Mutant.attention
