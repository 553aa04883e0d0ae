"""Attention that knows nothing of attnspec but its contract."""

import numpy as np

from outsider.numerics import softmax

ARRAYS = "numpy"
LACKS = {"gqa"}
CONVENTIONS = {"intermediate_dtype": "float32", "masked_nonfinite": "propagates"}


def attention(query, key, value, *, mask=None, is_causal=False):
    """Softmax attention with a mask or a causal one."""
    if query.dtype.kind in "iu" or (mask is not None and mask.ndim > query.ndim):
        raise ValueError("wanted floating-point numbers, and a mask of no more axes than the query")
    high = np.promote_types(query.dtype, np.float32)
    scores = query.astype(high) @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1] or 1)
    visible = np.tri(*scores.shape[-2:], dtype=bool) if is_causal else np.ones(scores.shape[-2:], bool)
    weights = softmax(scores, visible if mask is None else visible & mask)
    return (weights @ value).astype(query.dtype)
