"""Dropout drops in evaluation too."""

import itertools
from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.evaluation"
REPORTS = ("karpathy/nanoGPT#240", "meta-pytorch/torchtune#1791", "wenet-e2e/wenet#2699")


CALLS = itertools.count()


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    def __call__(self, parameters, x, *, seed=None, **options):
        return super().__call__(parameters, x, seed=next(CALLS) if seed is None else seed, **options)
