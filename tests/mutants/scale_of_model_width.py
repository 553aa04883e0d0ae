"""The scale is taken from the width of all heads together."""

import math

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("E2", "E4", "E5")


class Mutant(Steps):
    def default_scale(self):
        return super().default_scale() / math.sqrt(self.shape[1] or 1)


attention = Mutant.attention
