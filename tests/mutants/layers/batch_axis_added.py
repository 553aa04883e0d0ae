"""An input without a batch gets one."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.refuses_width"
REPORTS = ()


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    def __call__(self, parameters, x, **options):
        return super().__call__(parameters, x if x.ndim == 3 else x[None], **options)
