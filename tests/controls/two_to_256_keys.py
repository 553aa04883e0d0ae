"""From two to 256 keys, as a kernel with a buffer of a fixed size; one key, and more of them, raise as declared."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
LACKS = {"one_key", "long_rows"}


def attention(query, key, value, *, mask=None, is_causal=False, return_lse=False):
    if key.shape[-2] == 1 or key.shape[-2] > 256:
        raise ValueError("key: wanted from 2 to 256 keys")
    return Steps.attention(query, key, value, mask=mask, is_causal=is_causal, return_lse=return_lse)
