"""The queries of a step are turned as if they were the first, in one layout."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.cached_attention"
REPORTS = ()


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def attend(self, parameters, x, kept, *, offset=0, **options):
        return super().attend(parameters, x, kept, offset=0 if self.rotary == "half-split" else offset, **options)
