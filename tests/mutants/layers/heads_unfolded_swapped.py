"""Heads are folded as (batch, heads) and unfolded as (heads, batch)."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403
from attnspec.impls.layers.core import default_core

ARRAYS = "numpy"
KILLED_BY = "layers.batch"
REPORTS = ("gazelle93/Transformer-Various-Positional-Encoding#1",)


def swapped(query, key, value, **options):
    heads = default_core(query, key, value, **options)
    batch, number = heads.shape[:2]
    return heads.reshape(number, batch, *heads.shape[2:]).swapaxes(0, 1)


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    attention: object = swapped
