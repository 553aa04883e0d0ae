"""All layers of the stack have the first one's feed-forward layer."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.stack"
REPORTS = ("habla-liaa/encodecmae#3",)


@dataclass(frozen=True)
class Encoder(layers.Encoder):
    def __call__(self, parameters, x, **options):
        shared = {
            name: parameters[name.replace(".1.", ".0.", 1)] if ".1.feed_forward." in name else array
            for name, array in parameters.items()
        }
        return super().__call__(shared, x, **options)
