"""Packs without keywords, empty sequences, groups of heads or other numbers of keys than of queries."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
DTYPES = ("float64",)
LACKS = {"attend_packed+zero_size", "attend_packed+cross", "attend_packed+gqa"}


def attention(query, key, value, *, query_segments=None, key_segments=None):
    return Steps.attention(query, key, value, query_segments=query_segments, key_segments=key_segments)


def attend_packed(query, key, value, query_offsets, key_offsets):
    for offsets in (query_offsets, key_offsets):
        rising = len(offsets) > 1 and (np.diff(offsets) > 0).all() and (offsets[0], offsets[-1]) == (0, len(query))
        if not rising or len(key) != len(query) or len(key_offsets) != len(query_offsets):
            raise ValueError("attend_packed: wanted offsets that rise from 0 to the number of tokens")
    ids = np.repeat(np.arange(len(query_offsets) - 1), np.diff(query_offsets.astype(int)))
    query, key, value = (array.swapaxes(0, 1)[None] for array in (query, key, value))
    output = attention(query, key, value, query_segments=ids[None], key_segments=ids[None])
    return np.ascontiguousarray(output[0].swapaxes(0, 1))
