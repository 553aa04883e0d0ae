"""Everything is computed in float64 and rounded at the end."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}


class Control(Steps):
    def lifted(self, array):
        return super().lifted(array).astype(np.float64)

    def finish(self, output, weights, lse):
        return super().finish(output, weights, lse.astype(np.promote_types(self.dtype, np.float32)))


def attention(query, key, value, *, mask=None, softcap=None, scale=None, return_lse=False):
    return Control.attention(query, key, value, mask=mask, softcap=softcap, scale=scale, return_lse=return_lse)
