"""The kernel runs on the first device; a thread of its own stands for another one: nothing is written there."""

import threading

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.threads"
REPORTS = ("P11",)


class Mutant(Steps):
    def weighted(self, weights, visible):
        output = super().weighted(weights, visible)
        on_first = threading.current_thread() is threading.main_thread()
        return output if on_first else np.zeros_like(output)


attention = Mutant.attention
