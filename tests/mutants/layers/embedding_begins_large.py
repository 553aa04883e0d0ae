"""An embedding begins with ten times the deviation of its rule."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.initial_variance"
REPORTS = ()


@dataclass(frozen=True)
class Embedding(layers.Embedding):
    def init(self, draw):
        return {"weight": 10 * draw((self.count, self.width))}
