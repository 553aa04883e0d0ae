"""Under causality each query sees one key too many."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.causality"
REPORTS = ()


class Mutant(Steps):
    def by_causality(self):
        return self.behind() >= -1 if self.is_causal else np.True_


attention = Mutant.attention
