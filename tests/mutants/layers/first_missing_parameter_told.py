"""Of several wrong parameters the error names one."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.refuses_parameters"
REPORTS = ()


@dataclass(frozen=True)
class EncoderLayer(layers.EncoderLayer):
    def __call__(self, parameters, x, **options):
        for name in self.shapes():
            if name not in parameters:
                raise ValueError(f"missing: {name}")
        return super().__call__(parameters, x, **options)
