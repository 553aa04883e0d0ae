"""Pre-norm: keys and values come from what is not normalised."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.encoder_layer"
REPORTS = ("facebookresearch/xformers#233",)


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    def __call__(self, parameters, x, *, mask=None):
        part = self.bind(parameters, x)
        for name, options in (("attention", {"mask": mask}), ("feed_forward", {})):
            layer, norm = part[name], part[f"{name}_norm"]
            if not self.norm_first:
                x = norm(x + layer(x, **options))
            elif name == "attention":
                x = x + layer(norm(x), source=x, **options)
            else:
                x = x + layer(norm(x))
        return x
