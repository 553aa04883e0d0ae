"""What lies behind an array in memory, as far as it is the array's own buffer: no mutant leaves that."""

import numpy as np


def rows_beyond(array, count):
    """``count`` rows past the end of a contiguous array that is part of a longer one; None if there is no room."""
    if count == 0 or array.size == 0 or not isinstance(array.base, np.ndarray) or not array.flags.c_contiguous:
        return None
    width = array.shape[-1]
    room = np.lib.array_utils.byte_bounds(array.base)[1] - np.lib.array_utils.byte_bounds(array)[1]
    if room < count * width * array.itemsize:
        return None
    flat = np.lib.stride_tricks.as_strided(array.reshape(-1), (array.size + count * width,), array.strides[-1:])
    return flat[array.size :].reshape(count, width)
