"""Up to 256 keys, as a kernel with a buffer of a fixed size; more is declared lacking and raises."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
LACKS = {"long_rows"}


def attention(query, key, value, *, mask=None, is_causal=False):
    if key.shape[-2] > 256:
        raise ValueError("key: wanted at most 256 keys")
    return Steps.attention(query, key, value, mask=mask, is_causal=is_causal)
