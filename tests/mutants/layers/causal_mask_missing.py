"""The decoder sees the future of the target."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403
from attnspec.impls.layers.core import default_core

ARRAYS = "numpy"
KILLED_BY = "layers.causality"
REPORTS = ("alex-matton/causal-transformer-decoder#1", "huggingface/transformers#48745")


def seeing_all(query, key, value, *, is_causal=False, **options):
    return default_core(query, key, value, **options)


@dataclass(frozen=True)
class Transformer(layers.Transformer):
    attention: object = seeing_all
