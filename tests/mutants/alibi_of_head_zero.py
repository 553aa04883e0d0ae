"""All heads take the first head's ALiBi slope."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ()


class Mutant(Steps):
    def added(self, scores):
        if self.alibi_slopes is not None:
            self.alibi_slopes = np.full_like(self.alibi_slopes, self.alibi_slopes[0])
        return super().added(scores)


attention = Mutant.attention
