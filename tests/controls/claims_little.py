"""Four equal axes in float32 and nothing else; the rest is declared lacking and raises."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
LACKS = {"rank2", "rank3", "gqa", "cross", "value_dim", "zero_size"}
DTYPES = ("float32",)


def attention(query, key, value):
    if query.ndim < 4 or not query.shape == key.shape == value.shape or not query.size:
        raise ValueError("wanted query, key and value of one shape (B, H, L, D)")
    return Steps.attention(query, key, value)
