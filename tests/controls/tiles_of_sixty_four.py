"""Online softmax over tiles of 64 keys, as kernels have them."""

from attnspec.mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"intermediate_dtype": "float32", "value_range": "sum"}


class Wide(Tiles):
    SIZE = 64


def attention(query, key, value, *, key_lengths=None, scale=None, return_lse=False):
    return Wide.attention(query, key, value, key_lengths=key_lengths, scale=scale, return_lse=return_lse)
