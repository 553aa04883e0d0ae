"""Of more sinks than heads the first are taken, and fewer begin again."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.per_head"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("per_head",)

    def run(self):
        self.sinks = None if self.sinks is None else np.resize(self.sinks, self.shape[1])
        return super().run()


attention = Mutant.attention
