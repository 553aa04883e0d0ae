"""One source sequence serves all, whatever their number."""

from dataclasses import dataclass

import numpy as np

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.refuses_batch"
REPORTS = ()


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def __call__(self, parameters, x, *, source=None, **options):
        if source is not None and len(source) == 1:
            source = np.repeat(source, len(x), 0)
        return super().__call__(parameters, x, source=source, **options)
