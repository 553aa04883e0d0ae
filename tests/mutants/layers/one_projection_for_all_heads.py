"""All heads have the first one's projections."""

from dataclasses import dataclass

import numpy as np

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.multi_head"
REPORTS = ("MarcoMeter/episodic-transformer-memory-ppo#22",)


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def __call__(self, parameters, x, **options):
        rows = self.width // self.heads
        first = {
            name: a if name.startswith("output.") else np.concatenate([a[:rows]] * self.heads)
            for name, a in parameters.items()
        }
        return super().__call__(first, x, **options)
