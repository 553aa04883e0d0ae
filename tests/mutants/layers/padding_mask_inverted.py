"""The padding mask is True where there is padding."""

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.masks"
REPORTS = ("tensorflow/text#894",)


def padding_mask(lengths, length):
    return ~layers.padding_mask(lengths, length)
