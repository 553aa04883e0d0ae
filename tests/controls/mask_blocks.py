"""True in the mask hides, declared."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"mask": "block"}


def attention(query, key, value, *, mask=None, is_causal=False, bias=None):
    return Steps.attention(query, key, value, mask=None if mask is None else ~mask, is_causal=is_causal, bias=bias)
