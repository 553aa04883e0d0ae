"""Declared lacks are asked for in every form that may be lacking."""

import numpy as np
import pytest

from attnspec.impls.arrays import numpy as arrays
from attnspec.impls.numpy_naive import attention
from attnspec.specs.backend import Backend
from attnspec.specs.contract import read_declaration
from attnspec.specs.survey import idle_lacks


def raising_where(condition):
    def lacking(query, key, value, *, scale=None):
        if condition(query, key, value, scale):
            raise ValueError("no")
        return attention(query, key, value, scale=scale)

    return lacking


def idle(function, lack):
    declaration = read_declaration({"ARRAYS": "numpy", "DTYPES": ["float64"], "LACKS": [lack]})
    return [entry for entry, _, _ in idle_lacks(Backend("lacking", function, declaration, arrays))]


@pytest.mark.parametrize("size", ["batch", "keys", "key_dim", "value_dim"])
def test_a_lack_of_zero_sizes_may_be_of_one(size):
    sizes = {"batch": (0, 0), "keys": (1, 2), "key_dim": (1, 3), "value_dim": (2, 3)}
    argument, axis = sizes[size]

    def empty(query, key, value, scale):
        return (query, key, value)[argument].ndim == 4 and (query, key, value)[argument].shape[axis] == 0

    assert idle(raising_where(empty), "zero_size") == []


@pytest.mark.parametrize("refused", [0.0, -0.3])
def test_a_lack_of_scales_may_be_of_zero_or_of_those_below(refused):
    assert idle(raising_where(lambda query, key, value, scale: scale == refused), "nonpositive_scale") == []


@pytest.mark.parametrize("lack", ["zero_size", "nonpositive_scale"])
def test_a_lack_that_never_raises_is_idle(lack):
    assert idle(attention_alone, lack) == [lack]


def attention_alone(query, key, value, *, scale=None):
    return attention(np.asarray(query), key, value, scale=scale)
