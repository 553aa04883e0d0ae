"""Whatever dtypes come are promoted."""

from dataclasses import dataclass

import numpy as np

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.refuses_mixtures"
REPORTS = ()


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    def __call__(self, parameters, x, **options):
        widest = np.result_type(x, *parameters.values())
        promoted = {name: a.astype(widest) for name, a in parameters.items()}
        return super().__call__(promoted, x.astype(widest), **options)
