"""The stack applies its first layer again and again."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.stack"
REPORTS = ("espnet/espnet#1278", "elisabettafedele/superdec#2")


@dataclass(frozen=True)
class Encoder(layers.Encoder):
    def __call__(self, parameters, x, **options):
        first = {
            name: parameters[name.replace(".1.", ".0.", 1)] if name.startswith("layers.1.") else array
            for name, array in parameters.items()
        }
        return super().__call__(first, x, **options)
