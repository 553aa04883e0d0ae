"""The rotary embedding counts heads, not tokens."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.rotary"
REPORTS = ("mlfoundations/open_lm#4",)


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def turned(self, x, offset):
        return super().turned(x.swapaxes(1, 2), offset).swapaxes(1, 2)
