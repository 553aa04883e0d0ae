"""Cross-attention takes no notice of its mask."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.cross_attention"
REPORTS = ()


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def __call__(self, parameters, x, *, source=None, mask=None, **options):
        return super().__call__(parameters, x, source=source, mask=mask if source is None else None, **options)
