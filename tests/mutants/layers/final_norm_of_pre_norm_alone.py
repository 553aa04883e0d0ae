"""final_norm is not heeded."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.final_norm"
REPORTS = ()


@dataclass(frozen=True)
class Decoder(layers.Decoder):
    def __post_init__(self):
        object.__setattr__(self, "final_norm", None)
