"""A mask of 0 and -inf is cast to boolean, so that what it hides is all that is seen."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.mask_dtype"
REPORTS = ("C5",)


class Mutant(Steps):
    UNCHECKED = ("mask_dtype",)

    def by_mask(self):
        return np.True_ if self.mask is None else self.mask.astype(bool)


attention = Mutant.attention
