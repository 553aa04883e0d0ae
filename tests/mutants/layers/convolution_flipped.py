"""The kernel is turned round, as in the mathematical convolution."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.convolution_recurrence"
REPORTS = ()


@dataclass(frozen=True)
class Convolution(layers.Convolution):
    def __call__(self, parameters, x):
        return super().__call__({**parameters, "weight": parameters["weight"][:, :, ::-1]}, x)
