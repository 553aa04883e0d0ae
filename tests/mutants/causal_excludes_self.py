"""Under causality a query does not see its own position."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.causal_is_mask"
REPORTS = ("O3",)


class Mutant(Steps):
    def by_causality(self):
        return self.behind() > 0 if self.is_causal else np.True_


attention = Mutant.attention
