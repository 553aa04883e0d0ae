"""Self-attention scales by the width of the values."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.self_attention"
REPORTS = ()


@dataclass(frozen=True)
class SelfAttention(layers.SelfAttention):
    def __call__(self, parameters, x, **options):
        factor = ((self.key_width or self.width) / (self.value_width or self.width)) ** 0.5
        scaled = {n: a * factor if n.startswith("query.") else a for n, a in parameters.items()}
        return super().__call__(scaled, x, **options)
