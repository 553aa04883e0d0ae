"""Sines and cosines are rounded to the inputs' dtype before they are used, which is the default; angles are not."""

import numpy as np

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
DTYPES = ("float64", "float32", "float16", "bfloat16")


def positional_encoding(x, *, offset=0):
    length, width = x.shape[1:]
    call = numpy_positions.Encoding()
    call.offset = offset
    return x + call.table(length, width).astype(x.dtype)


def rotary_embedding(x, *, offset=0, rotary_dim=None):
    width = x.shape[3] if rotary_dim is None else rotary_dim
    angles = np.arange(offset, offset + x.shape[2])[:, None] * 10000.0 ** -(np.arange(0, width, 2) / max(width, 1))
    turn = np.exp(1j * angles)
    cos, sin = turn.real.astype(x.dtype), turn.imag.astype(x.dtype)
    result = x.copy()
    result[..., 0:width:2] = x[..., 0:width:2] * cos - x[..., 1:width:2] * sin
    result[..., 1:width:2] = x[..., 0:width:2] * sin + x[..., 1:width:2] * cos
    return result


attention = numpy_positions.attention
