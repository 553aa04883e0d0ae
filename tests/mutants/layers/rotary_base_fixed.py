"""The base of rotary positions is 10000, whatever is asked for."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.rotary_base"
REPORTS = ()


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "rotary_base", 10000.0)
