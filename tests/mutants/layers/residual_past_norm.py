"""Post-norm: the second residual goes round the first LayerNorm."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.encoder_layer"
REPORTS = ("NVIDIA-NeMo/Speech#4350",)


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    def __call__(self, parameters, x, *, mask=None):
        if self.norm_first:
            return super().__call__(parameters, x, mask=mask)
        part = self.bind(parameters, x)
        x = x + part["attention"](x, mask=mask)
        x = x + part["feed_forward"](part["attention_norm"](x))
        return part["feed_forward_norm"](x)
