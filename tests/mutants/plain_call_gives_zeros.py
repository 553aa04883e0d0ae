"""Without any option the result is never written: zeros."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ()


class Mutant(Steps):
    def weighted(self, weights, visible):
        output = super().weighted(weights, visible)
        options = ("mask", "bias", "softcap", "window", "alibi_slopes", "sinks", "key_lengths", "query_segments")
        plain = all(getattr(self, name) is None for name in options) and not self.is_causal
        return np.zeros_like(output) if plain else output


attention = Mutant.attention
