"""The window's left bound counts the keys in all, declared."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"window": "count"}


def attention(query, key, value, *, window=None, is_causal=False, mask=None):
    left, right = (None, None) if window is None else window
    reach = (left if left is None else left - 1, right)
    return Steps.attention(query, key, value, window=reach, is_causal=is_causal, mask=mask)
