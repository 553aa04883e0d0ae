"""The scale is taken from the key width rounded up to a multiple of 8."""

import math

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("E11",)


class Mutant(Steps):
    def default_scale(self):
        return 1 / math.sqrt(-self.query.shape[3] // 8 * -8 or 1)


attention = Mutant.attention
