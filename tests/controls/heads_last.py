"""The layout BLHD, declared."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"layout": "BLHD"}
REPORTS = ("K10",)


def attention(query, key, value, *, mask=None, is_causal=False, scale=None):
    if query.ndim < 3:
        return Steps.attention(query, key, value, mask=mask, is_causal=is_causal, scale=scale)
    swapped = (array.swapaxes(-2, -3) for array in (query, key, value))
    return Steps.attention(*swapped, mask=mask, is_causal=is_causal, scale=scale).swapaxes(-2, -3)
