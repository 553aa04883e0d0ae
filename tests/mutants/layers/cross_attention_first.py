"""The decoder reads the memory before it attends to its own tokens."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403
from attnspec.impls.layers.residual import residual

ARRAYS = "numpy"
KILLED_BY = "layers.decoder_layer"
REPORTS = ()


@dataclass(frozen=True)
class DecoderLayer(layers.DecoderLayer):
    def __call__(self, parameters, x, memory, *, mask=None, memory_mask=None, seed=None):
        part = self.bind(parameters, x, memory)
        for name, layer in (
            ("cross_attention", lambda y: part["cross_attention"](y, source=memory, mask=memory_mask)),
            ("attention", lambda y: part["attention"](y, mask=mask, is_causal=True)),
            ("feed_forward", part["feed_forward"]),
        ):
            x = residual(x, layer, part[f"{name}_norm"], norm_first=self.norm_first)
        return x
