"""Dropout: in training some numbers are dropped and the others made larger; in evaluation nothing happens.

Srivastava et al., Dropout (2014), in the form that scales in training. Without a seed a layer evaluates: there is no
mode to forget. The numbers come from NumPy, so that a seed drops the same in every array library.
"""

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from attnspec.impls.layers.checks import described, is_kind, want, whole, within
from attnspec.impls.layers.parameters import Array

Seed = int | tuple[int, ...] | None
"""None: evaluation. Each place of dropout in a layer takes the seed with its own number after it."""


def dropout(x: Array, rate: float, seed: Seed) -> Array:
    """``x`` with each number 0 with probability ``rate``, else divided by 1 − rate; as it is where seed is None.

    ValueError for a rate that is not from 0 to below 1, a negative seed, and an x that is not of floating numbers.
    """
    want_rate("dropout", rate)
    if seed is None or rate == 0:
        return x
    seeds = seed if isinstance(seed, tuple) else (seed,)
    want(all(map(whole, seeds)), "dropout", "a seed of 0 or more, or a tuple of such", repr(seed))
    want(is_kind(x, "real floating"), "dropout", "x of floating numbers", described(x))
    xp = array_namespace(x)
    kept = xp.asarray(np.random.default_rng(seed).random(x.shape) >= rate, device=device(x))
    return xp.where(kept, x / (1 - rate), 0 * x)


def want_rate(call: str, rate: Any) -> None:
    """ValueError for a rate that is not from 0 to below 1."""
    want(within(rate, 0, 1), call, "a rate from 0 to below 1", repr(rate))


def sub(seed: Seed, place: int) -> Seed:
    """The seed of one place; None stays None."""
    if seed is None:
        return None
    return (*(seed if isinstance(seed, tuple) else (seed,)), place)
