"""Comparing what came with what was wanted: NaN equals only NaN, an infinity only itself."""

from dataclasses import dataclass

import numpy as np

from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Array


@dataclass(frozen=True)
class Difference:
    """The worst element: where, what was wanted, what came, the bound, and error ÷ bound."""

    index: tuple[int, ...]
    wanted: float
    came: float
    bound: float
    ratio: float

    def __str__(self) -> str:
        return f"at {list(self.index)} wanted {self.wanted:.9g}, came {self.came:.9g}, err/bound {self.ratio:.3g}"


def ratios(came: Array, wanted: Floats, bound: Floats | float) -> Floats:
    """Error ÷ bound for each element; ∞ where exactly one is NaN, infinities differ, or a zero bound is broken.

    ∞ also under a bound that is none, NaN or negative. ValueError if the shapes differ; the bound may broadcast.
    """
    came, wanted = np.asarray(came, np.float64), np.asarray(wanted, np.float64)
    if came.shape != wanted.shape:
        raise ValueError(f"compare: wanted shape {wanted.shape}, came {came.shape}")
    bound = _spread(bound, wanted.shape)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ratio = np.abs(came - wanted) / bound
    right = (came == wanted) | (np.isnan(came) & np.isnan(wanted)) | (bound == np.inf)
    wrong = (np.isnan(ratio) & ~right) | ~(bound >= 0)
    return np.where(wrong, np.inf, np.where(right, 0.0, ratio))


def _spread(bound: Floats | float, shape: tuple[int, ...]) -> Floats:
    array = np.asarray(bound, np.float64)
    return array if array.shape == shape else np.broadcast_to(array, shape)


def worst(came: Array, wanted: Floats, bound: Floats | float) -> Difference | None:
    """The element with the largest error ÷ bound; None for empty arrays. Shapes must agree."""
    ratio = ratios(came, wanted, bound)
    if ratio.size == 0:
        return None
    index = tuple(int(i) for i in np.unravel_index(int(ratio.argmax()), ratio.shape))
    arrays = (np.asarray(wanted), np.asarray(came, np.float64), _spread(bound, ratio.shape), ratio)
    return Difference(index, *(float(array[index]) for array in arrays))
