"""With other keys than queries, as with a cache, causality is skipped for several queries too."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.causality"
REPORTS = ("B19",)


class Mutant(Steps):
    def by_causality(self):
        return super().by_causality() if self.shape[2] == self.shape[3] else np.True_


attention = Mutant.attention
