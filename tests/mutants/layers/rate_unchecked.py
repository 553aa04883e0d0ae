"""An encoder layer takes any rate of dropout, and breaks when it drops."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.refuses_rates"
REPORTS = ()


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    def __post_init__(self):
        pass
