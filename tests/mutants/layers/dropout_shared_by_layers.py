"""The layers of a stack all drop the same."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.dropout_places"
REPORTS = ()


@dataclass(frozen=True)
class Encoder(layers.Encoder):
    def __call__(self, parameters, x, *, seed=None, **options):
        part = self.bind(parameters, x)
        for i in range(self.count):
            x = part[f"layers.{i}"](x, seed=seed, **options)
        return part["norm"](x) if "norm" in part else x
