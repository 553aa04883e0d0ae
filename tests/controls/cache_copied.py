"""Nothing is changed in place: each step appends to copies, and the cache is a plain tuple."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"

attention = Cache.attention


def make_cache(batch, kv_heads, capacity, key_dim, value_dim, dtype, *, window=None):
    empty = (np.zeros((batch, kv_heads, 0, width), dtype) for width in (key_dim, value_dim))
    return (*empty, np.zeros((batch, 0), np.int64), np.zeros(batch, np.int64), capacity, window)


def attend_cached(query, key, value, cache, *, lengths=None, scale=None):
    keys, values, positions, length, capacity, window = cache
    lengths = np.full(len(query), query.shape[2]) if lengths is None else lengths
    if window is None and (length + lengths > capacity).any():
        raise ValueError("attend_cached: wanted no more tokens than there is room for")
    place = np.arange(query.shape[2])
    real = place < lengths[:, None]
    keys = np.concatenate([keys, np.where(real[:, None, :, None], key, 0).astype(key.dtype)], axis=2)
    values = np.concatenate([values, np.where(real[:, None, :, None], value, 0).astype(value.dtype)], axis=2)
    positions = np.concatenate([positions, np.where(real, length[:, None] + place, -1)], axis=1)
    behind = (length[:, None] + place)[:, :, None] - positions[:, None]
    visible = (positions >= 0)[:, None] & (behind >= 0) & (behind < (window or np.inf))
    with np.errstate(all="ignore"):
        step = Cache(*key.shape[:2], capacity, key.shape[3], value.shape[3], key.dtype, window, None)
        output = step.average(query, keys, values, visible, scale)
    return output, (keys, values, positions, length + lengths, capacity, window)
