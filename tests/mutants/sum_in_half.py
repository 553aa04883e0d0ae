"""The denominator is summed in the inputs' own half precision and stops growing in long rows."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
DTYPES = ("float32", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}
KILLED_BY = "softmax.every_key_counts"
REPORTS = ("K6",)


class Mutant(Steps):
    def softmax(self, scores, visible):
        logits = np.where(visible, scores, -np.inf)
        terms = np.exp(logits - np.where(np.isneginf(self.top(logits)), 0, self.top(logits)))
        weights, lse = super().softmax(scores, visible)
        total = terms.sum(3, keepdims=True)
        narrow = sum(np.moveaxis(terms.astype(self.dtype), 3, 0), np.zeros(total.shape[:3], self.dtype))
        return weights * total / np.maximum(narrow.astype(total.dtype)[..., None], 1e-9), lse


attention = Mutant.attention
