"""The keys are visited from the last to the first."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"


def attention(query, key, value, *, mask=None, scale=None, return_lse=False):
    back = None if mask is None else mask[..., ::-1] if mask.shape[-1] > 1 else mask
    return Steps.attention(query, key[..., ::-1, :], value[..., ::-1, :], mask=back, scale=scale, return_lse=return_lse)
