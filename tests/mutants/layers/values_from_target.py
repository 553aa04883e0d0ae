"""Cross-attention takes values by position from the target where it has them."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.cross_attention"
REPORTS = ()


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def __call__(self, parameters, x, *, source=None, **options):
        if source is None:
            return super().__call__(parameters, x, **options)
        mixed = source.copy()
        mixed[:, : x.shape[1]] = x[:, :, : source.shape[2]]
        kept = self.keys_values(parameters, source)[0], self.keys_values(parameters, mixed)[1]
        return self.attend(parameters, x, kept, **options)
