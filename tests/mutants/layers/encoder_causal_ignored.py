"""An encoder layer is not causal when told to be."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.encoder_causal"
REPORTS = ()


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    def __call__(self, parameters, x, *, mask=None, is_causal=False, seed=None):
        return super().__call__(parameters, x, mask=mask, seed=seed)
