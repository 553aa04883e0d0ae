"""Query and key are both multiplied by the root of the scale, as ONNX does."""

import math

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"


class Control(Steps):
    def scores(self):
        factor = self.default_scale() if self.scale is None else self.scale
        root = math.sqrt(abs(factor))
        return (self.query * math.copysign(root, factor)) @ (self.per_query_head(self.key) * root).swapaxes(2, 3)


def attention(query, key, value, *, mask=None, scale=None, return_lse=False):
    return Control.attention(query, key, value, mask=mask, scale=scale, return_lse=return_lse)
