"""NaN in hidden keys and values reaches the output, declared."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"masked_nonfinite": "propagates"}


class Control(Steps):
    def softmax(self, scores, visible):
        return super().softmax(
            np.where(np.isnan(scores), scores, np.where(visible, scores, -np.inf)), visible | np.isnan(scores)
        )

    def weighted(self, weights, visible):
        return weights @ self.per_query_head(self.value)


def attention(query, key, value, *, mask=None, is_causal=False, key_lengths=None, return_weights=False):
    options = {"mask": mask, "is_causal": is_causal, "key_lengths": key_lengths, "return_weights": return_weights}
    return Control.attention(query, key, value, **options)
