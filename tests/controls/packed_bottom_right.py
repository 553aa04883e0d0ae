"""Sequence by sequence, the last first; causality is aligned at each sequence's end, and the window counts keys."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"causal_alignment": "bottom-right", "window": "count", "layout": "BLHD"}


class BottomRight(Steps):
    def offset(self):
        return self.shape[3] - self.shape[2]


def attention(query, key, value, *, is_causal=False, window=None):
    turned = (a.swapaxes(-2, -3) if a.ndim > 2 else a for a in (query, key, value))
    left, right = (None, None) if window is None else window
    reach = (None if left is None else left - 1, right)
    output = BottomRight.attention(*turned, is_causal=is_causal, window=reach)
    return np.ascontiguousarray(output.swapaxes(-2, -3)) if output.ndim > 2 else output


def attend_packed(query, key, value, query_offsets, key_offsets, *, window=None, is_causal=False):
    for offsets, tokens in ((query_offsets, query), (key_offsets, key)):
        whole = offsets.dtype.kind == "i" and len(offsets) == len(query_offsets) > 0
        if not whole or offsets[0] != 0 or offsets[-1] != len(tokens) or (np.diff(offsets) < 0).any():
            raise ValueError("attend_packed: wanted offsets that rise from 0 to the number of tokens")
    output = np.empty((*query.shape[:2], value.shape[2]), query.dtype)
    for b in range(len(query_offsets) - 1)[::-1]:
        queries, keys = (slice(o[b], o[b + 1]) for o in (query_offsets, key_offsets))
        output[queries] = attention(query[queries], key[keys], value[keys], is_causal=is_causal, window=window)
    return output
