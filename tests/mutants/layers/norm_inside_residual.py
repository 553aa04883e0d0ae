"""Post-norm: what the layer gives is normalised before it is added."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.encoder_layer"
REPORTS = ("mashrurmorshed/Torch-KWT#13",)


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    def __call__(self, parameters, x, *, mask=None):
        part = self.bind(parameters, x)
        for name, options in (("attention", {"mask": mask}), ("feed_forward", {})):
            layer, norm = part[name], part[f"{name}_norm"]
            x = x + layer(norm(x), **options) if self.norm_first else x + norm(layer(x, **options))
        return x
