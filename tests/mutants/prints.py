"""A shape is printed in every call."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.silent"
REPORTS = ()


def attention(query, key, value, *, mask=None):
    print(query.shape)
    return Steps.attention(query, key, value, mask=mask)
