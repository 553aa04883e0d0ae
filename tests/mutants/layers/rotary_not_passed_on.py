"""An encoder layer makes its attention without rotary positions."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.grouped_rotary_layer"
REPORTS = ()


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    def parts(self):
        attention = layers.MultiHead(self.width, self.heads, self.kv_heads, bias=self.bias)
        return {**super().parts(), "attention": attention}
