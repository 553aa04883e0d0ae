"""The encoder layer attends to the padding, and to it alone."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.padding"
REPORTS = ("InseeFrLab/torchTextClassifiers#92",)


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    def __call__(self, parameters, x, *, mask=None, **options):
        return super().__call__(parameters, x, mask=None if mask is None else ~mask, **options)
