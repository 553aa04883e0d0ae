"""Weights are returned, but nothing can hide a key."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"


def attention(query, key, value, *, return_weights=False):
    return Steps.attention(query, key, value, return_weights=return_weights)
