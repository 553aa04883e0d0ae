"""A mask of two axes is taken for one of keys where it is as long as the batch."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.refuses_mask"
REPORTS = ()


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def __call__(self, parameters, x, *, mask=None, **options):
        if mask is not None and mask.shape == x.shape[:2]:
            mask = mask[:, None, None, :]
        return super().__call__(parameters, x, mask=mask, **options)
