"""Scores and weights of half-precision inputs are stored in half precision, as the default convention allows."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
DTYPES = ("float32", "float16", "bfloat16")


class Control(Steps):
    def scores(self):
        self.key = self.stored(self.key * np.float32(self.default_scale() if self.scale is None else self.scale))
        return self.stored(self.query @ self.per_query_head(self.key).swapaxes(2, 3))

    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        return self.stored(weights), lse

    def stored(self, array):
        return array.astype(self.dtype).astype(array.dtype)


def attention(query, key, value, *, mask=None, scale=None, return_weights=False, return_lse=False):
    wanted = {"return_weights": return_weights, "return_lse": return_lse}
    return Control.attention(query, key, value, mask=mask, scale=scale, **wanted)
