"""Online softmax over tiles of three keys, with softcap and weights."""

from attnspec.mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"intermediate_dtype": "float32", "value_range": "sum"}


class Triples(Tiles):
    SIZE = 3


def attention(query, key, value, *, bias=None, window=None, softcap=None, return_weights=False):
    return Triples.attention(
        query, key, value, bias=bias, window=window, softcap=softcap, return_weights=return_weights
    )
