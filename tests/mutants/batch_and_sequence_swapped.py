"""Batch and sequence axes change places: samples attend to each other."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
LACKS = {"rank2", "rank3"}
KILLED_BY = "symmetry.batch_independence"
REPORTS = ("G6",)


def attention(query, key, value, *, scale=None):
    if query.ndim < 4:
        raise ValueError("wanted four axes")
    if query.shape[2] == key.shape[2]:
        swapped = (array.swapaxes(0, 2) for array in (query, key, value))
        return Steps.attention(*swapped, scale=scale).swapaxes(0, 2)
    return Steps.attention(query, key, value, scale=scale)
