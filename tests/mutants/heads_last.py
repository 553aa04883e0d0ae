"""Inputs are read with the sequence before the heads, which is not declared."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
LACKS = {"rank2"}
KILLED_BY = "convention.layout"
REPORTS = ("G6",)


def attention(query, key, value, *, mask=None, is_causal=False):
    if query.ndim < 3:
        raise ValueError("wanted an axis of heads")
    swapped = (array.swapaxes(-2, -3) for array in (query, key, value))
    return Steps.attention(*swapped, mask=mask, is_causal=is_causal).swapaxes(-2, -3)
