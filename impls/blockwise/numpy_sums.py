"""The online softmax: sums over the keys so far, and three ways to add a tile of scores to them.

Shapes: N strips of W queries, Dv value dimension.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnspec.impls.blockwise.numpy_problem import Problem, aligned

Array = NDArray[Any]


class Sums(NamedTuple):
    """Over the keys so far: greatest score and weights (N, W), weighted values (N, W, Dv); room for a tile's."""

    top: Array
    weight: Array
    total: Array
    fresh: Array


def started(p: Problem, head: int, shape: tuple[int, ...], calm: bool) -> Sums:
    """The sums (N, W) before any key.

    The greatest score is the sink or the lowest number, where -inf would give NaN differences; calm scores stand for 0.
    """
    sink = p.options["sinks"][head] if "sinks" in p.options else -np.inf
    top = np.full(shape, 0 if calm else np.maximum(sink, np.finfo(p.dtype).min), p.dtype)
    total, fresh = (aligned((*shape, p.value.shape[3]), p.dtype) for _ in range(2))
    total[:] = 0
    return Sums(top, np.exp(sink - top), total, fresh)


def add(sums: Sums, weights: Array, values: Array) -> None:
    """Add a tile of weights (N, keys, W), those of calm scores, and values (keys, Dv) to the sums."""
    _, weight, total, fresh = sums
    weight += over_keys(weights)
    total += np.matmul(weights.swapaxes(1, 2), values, out=fresh)


def absorb(sums: Sums, scores: Array, values: Array) -> None:
    """The same for any scores, which are spent, by one step of the online softmax: relative to the greatest so far."""
    _, weight, total, fresh = sums
    fade = rise(sums.top, scores)
    weights = np.exp(scores, out=scores)
    weight *= fade
    weight += over_keys(weights)
    total *= fade[..., None]
    total += np.matmul(weights.swapaxes(1, 2), values, out=fresh)


def average(sums: Sums, scores: Array, values: Array) -> None:
    """The same for wild heads: total holds averages, which stay within the values where sums might overflow."""
    _, weight, total, fresh = sums
    before = weight * rise(sums.top, scores)
    weights = np.exp(scores, out=scores)
    weight[:] = before + over_keys(weights)
    weights /= nonzero(weight)[:, None]
    total *= (before / nonzero(weight))[..., None]
    total += np.matmul(weights.swapaxes(1, 2), values, out=fresh)


def over_keys(weights: Array) -> Array:
    """Sums (N, W) of the weights (N, keys, W); BLAS is several times as fast as np.sum."""
    return np.ones(weights.shape[1], weights.dtype) @ weights


def rise(top: Array, scores: Array) -> Array:
    """Raise top (N, W) to the greatest score, make the scores relative to it; the factor (N, W) for earlier sums."""
    new = np.maximum(top, scores.max(axis=1))
    scores -= new[:, None]
    fade: Array = np.exp(top - new)
    top[:] = new
    return fade


def nonzero(weight: Array) -> Array:
    """1 in the place of 0, where nothing was summed that could be divided."""
    return np.where(weight == 0, 1, weight).astype(weight.dtype)


def clipped(average: Array) -> Array:
    """Only rounding leads an average past the largest number."""
    return np.clip(average, np.finfo(average.dtype).min, np.finfo(average.dtype).max)
