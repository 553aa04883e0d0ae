"""A contiguous cache alone: no window, no pages, no lengths, no scale; heads stand behind the sequence."""

import numpy as np

from attnspec.mutants.correct.numpy_cache import Cache

ARRAYS = "numpy"
CONVENTIONS = {"layout": "BLHD"}


def turned(array):
    return array.swapaxes(1, 2) if array.ndim == 4 else array.swapaxes(0, 1) if array.ndim == 3 else array


def attention(query, key, value):
    return turned(Cache.attention(turned(query), turned(key), turned(value)))


def make_cache(batch, kv_heads, capacity, key_dim, value_dim, dtype):
    return Cache.make_cache(batch, kv_heads, capacity, key_dim, value_dim, dtype)


def attend_cached(query, key, value, cache):
    output, cache = Cache.attend_cached(turned(query), turned(key), turned(value), cache)
    return np.ascontiguousarray(turned(output)), cache
