"""Named distributions of query, key and value: what the numbers look like, from harmless to nasty.

Each takes a generator and a shape (..., n, d) and gives float64; the caller rounds to the problem's dtype. The
order is the order in which a failing problem is simplified.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from attnspec.specs.problem import passing_generator

Floats = NDArray[np.float64]
Shape = tuple[int, ...]


def small_integers(rng: RandomState, shape: Shape) -> Floats:
    """Integers from -3 to 3: every product and sum is exact in every dtype."""
    return rng.randint(-3, 4, shape).astype(np.float64)


def gaussian(rng: RandomState, shape: Shape) -> Floats:
    """Standard normal."""
    return rng.standard_normal(shape)


def uniform(rng: RandomState, shape: Shape) -> Floats:
    """Uniform on [-2, 2)."""
    return rng.uniform(-2, 2, shape)


def one_hot(rng: RandomState, shape: Shape) -> Floats:
    """One 4 in each row, zeros elsewhere."""
    picks = rng.randint(0, max(shape[-1], 1), shape[:-1])
    return np.where(np.arange(shape[-1]) == picks[..., None], 4.0, 0.0)


def constant(rng: RandomState, shape: Shape) -> Floats:
    """Every query and key the same; values are Gaussian."""
    return np.broadcast_to(rng.standard_normal(shape[-1:]), shape).copy()


def duplicated_rows(rng: RandomState, shape: Shape) -> Floats:
    """Rows in equal pairs, so that maxima tie."""
    rows = rng.standard_normal((*shape[:-2], (shape[-2] + 1) // 2, shape[-1]))
    pairs: Floats = np.repeat(rows, 2, axis=-2)
    return pairs[..., : shape[-2], :]


def large(rng: RandomState, shape: Shape) -> Floats:
    """Standard normal times 10: softmax close to one-hot."""
    return 10 * rng.standard_normal(shape)


def tiny(rng: RandomState, shape: Shape) -> Floats:
    """Standard normal times 1e-3: softmax close to uniform."""
    return 1e-3 * rng.standard_normal(shape)


def subnormal(rng: RandomState, shape: Shape) -> Floats:
    """Around 1e-40, subnormal in float32; 0 in float16."""
    return 1e-40 * rng.standard_normal(shape)


def opposed(rng: RandomState, shape: Shape) -> Floats:
    """Around 4: with the key negated, every score is strongly negative."""
    return 4 + 0.5 * rng.standard_normal(shape)


def far_below(rng: RandomState, shape: Shape) -> Floats:
    """Around 200: with the key negated, every score is below −1e4, where finite stand-ins for −∞ lie."""
    return 200 + 0.02 * rng.standard_normal(shape)


DISTRIBUTIONS: dict[str, Callable[[RandomState, Shape], Floats]] = {
    "small-integers": small_integers,
    "gaussian": gaussian,
    "uniform": uniform,
    "one-hot": one_hot,
    "constant": constant,
    "duplicated-rows": duplicated_rows,
    "large": large,
    "tiny": tiny,
    "subnormal": subnormal,
    "opposed": opposed,
    "far-below": far_below,
}


def draw(name: str, seed: int, role: str, shape: Shape) -> Any:
    """The float64 values of ``role`` (query, key or value) under the distribution ``name``."""
    rng = passing_generator(seed, ("query", "key", "value").index(role))
    values = DISTRIBUTIONS[name](rng, shape)
    if name in ("constant", "far-below") and role == "value":
        return gaussian(rng, shape)
    return -values if name in ("opposed", "far-below") and role == "key" else values
