"""Options are positional and the function is wrapped twice."""

import functools

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"


def logged(function):
    @functools.wraps(function)
    def inner(*arguments, **options):
        return function(*arguments, **options)

    return inner


@logged
@logged
def attention(query, key, value, mask=None, is_causal=False, scale=None):
    return Steps.attention(query, key, value, mask=mask, is_causal=is_causal, scale=scale)
