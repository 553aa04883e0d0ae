"""Values of another width than the keys are joined feature by feature."""

from dataclasses import dataclass

import numpy as np

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.two_forms"
REPORTS = ()


@dataclass(frozen=True)
class PerHead(layers.PerHead):
    def __call__(self, parameters, x, **options):
        if self.value_width in (None, self.key_width):
            return super().__call__(parameters, x, **options)
        part = self.bind(parameters, x)
        heads = [part[f"heads.{i}"](x, **options) for i in range(self.heads)]
        return part["output"](np.stack(heads, axis=-1).reshape(*x.shape[:2], -1))
