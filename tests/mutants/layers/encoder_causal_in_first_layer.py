"""Causality is asked of the first layer alone."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.encoder_causal"
REPORTS = ()


@dataclass(frozen=True)
class Encoder(layers.Encoder):
    def __call__(self, parameters, x, *, mask=None, is_causal=False, seed=None):
        part = self.bind(parameters, x)
        for i in range(self.count):
            x = part[f"layers.{i}"](x, mask=mask, is_causal=is_causal and i == 0)
        return part["norm"](x) if "norm" in part else x
