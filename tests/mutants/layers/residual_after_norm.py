"""Pre-norm: the residual is taken from what is normalised."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.encoder_layer"
REPORTS = ("Howuhh/faster-trajectory-transformer#3", "tracel-ai/burn#1056", "SHI-Labs/Compact-Transformers#25")


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    def __call__(self, parameters, x, *, mask=None):
        part = self.bind(parameters, x)
        for name, options in (("attention", {"mask": mask}), ("feed_forward", {})):
            layer, norm = part[name], part[f"{name}_norm"]
            if self.norm_first:
                y = norm(x)
                x = y + layer(y, **options)
            else:
                x = norm(x + layer(x, **options))
        return x
