"""A tenth of the weights is dropped at random in every call."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.repeatable"
REPORTS = ("I1", "I3", "I4", "I5")

GENERATOR = np.random.default_rng(0)


class Mutant(Steps):
    def weighted(self, weights, visible):
        return super().weighted(weights * (GENERATOR.random(weights.shape) > 0.1), visible)


attention = Mutant.attention
