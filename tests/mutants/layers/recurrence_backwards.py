"""The recurrent layer goes through the tokens from the end."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.receptive_field"
REPORTS = ()


@dataclass(frozen=True)
class Recurrent(layers.Recurrent):
    def __call__(self, parameters, x):
        return super().__call__(parameters, x[:, ::-1])[:, ::-1]
