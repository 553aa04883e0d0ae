"""Everything is computed in float64 and rounded at the end."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}


def attention(query, key, value, *, mask=None, softcap=None, scale=None, return_lse=False):
    wide = (array.astype(np.float64) for array in (query, key, value))
    result = Steps.attention(*wide, mask=mask, softcap=softcap, scale=scale, return_lse=return_lse)
    if not return_lse:
        return result.astype(query.dtype)
    return result[0].astype(query.dtype), result[1].astype(np.promote_types(query.dtype, np.float32))
