"""Pairs stand half the width apart, declared, and heads behind the sequence; there is no partial rotation."""

import numpy as np

from attnspec.mutants.correct import numpy_positions
from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"rotary_layout": "half-split", "layout": "BLHD"}


class Control(numpy_positions.Rotary):
    def pairs(self, x):
        return np.split(x, 2, axis=-1)

    def joined(self, first, second):
        return np.concatenate([first, second], axis=-1)


def turned_over(array):
    return array.swapaxes(-3, -2) if array.ndim > 2 else array


def attention(query, key, value):
    return turned_over(Steps.attention(*map(turned_over, (query, key, value))))


def rotary_embedding(x, offset=0, *, positions=None):
    return turned_over(Control.rotary_embedding(turned_over(x), offset=offset, positions=positions))
