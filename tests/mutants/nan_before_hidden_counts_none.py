"""A running maximum of ``max if max > new else new`` forgets NaN at the next key; a row left at -inf is empty."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "masking.nan_bias_shows"
REPORTS = ()


class Mutant(Steps):
    def top(self, logits):
        top = np.full((*logits.shape[:3], 1), -np.inf, logits.dtype)
        for key in range(logits.shape[3]):
            new = logits[..., key, None]
            top = np.where(top > new, top, new)
        return top if self.sinks is None else np.maximum(top, super().top(np.full_like(logits, -np.inf)))

    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        empty = np.isneginf(self.top(np.where(visible, scores, -np.inf)))
        return np.where(empty, 0, weights), lse


attention = Mutant.attention
