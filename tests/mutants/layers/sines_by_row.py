"""Sine and cosine take turns over the positions, not over the features."""

from dataclasses import dataclass

import numpy as np

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.positions"
REPORTS = ("gmongaras/Diffusion_models_from_scratch#10",)


@dataclass(frozen=True)
class SinusoidalPositions(layers.SinusoidalPositions):
    def __call__(self, parameters, x, *, offset=0):
        places = np.arange(offset, offset + x.shape[1])[:, None]
        angles = places / 10000 ** (np.arange(self.width) // 2 * 2 / self.width)
        return (x + np.where(places % 2 == 0, np.sin(angles), np.cos(angles))).astype(x.dtype)
