"""What a call of numpy_blockwise works on: the arrays as they came, and each key/value head made ready.

Shapes: B batch, Hq query heads, Hkv key/value heads, L queries, S keys, Dk key and Dv value dimension.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Sizes(NamedTuple):
    """Queries of a block, keys of a tile, queries of a strip at most; from how many multiplications on threads pay.

    ``strip``: OpenBLAS does not copy the factors of small products first, which makes them a fifth faster.
    """

    queries: int
    keys: int
    strip: int
    small: int


@dataclass(frozen=True)
class Problem:
    """The call, read. Arrays are views with all axes; a query sees ``reach`` = (left, right) keys back and ahead."""

    query: Array
    key: Array
    value: Array
    options: dict[str, Array]
    dtype: Any
    scale: float
    softcap: float
    reach: tuple[int, int]
    sizes: Sizes

    @functools.cached_property
    def limits(self) -> dict[float, Array]:
        """By what stands for hidden, of scores -inf and of weights 0: that, or inf, at place S + query - key."""
        queries, keys = self.query.shape[2], self.key.shape[2]
        ahead = np.arange(-keys, queries + self.sizes.strip)
        visible = (ahead <= self.reach[0]) & (ahead >= -self.reach[1])
        return {least: limit(visible, self.dtype, least) for least in (-np.inf, 0.0)}

    def has(self, *names: str) -> bool:
        """Whether any of these array options is given."""
        return not self.options.keys().isdisjoint(names)


class Head(NamedTuple):
    """A key/value head: key (S, Dk), value (S, Dv).

    ``longest``: a query up to this length, times scale, makes no score that needs another subtracted before exp.
    ``wild``: None, or for values too large to add up or not finite, in rows {key: (Dv,)}. Such a head has its finite
    values halved and averaged rather than added.
    """

    key: Array
    value: Array
    longest: float
    wild: dict[int, Array] | None


@np.errstate(all="ignore")
def prepare(p: Problem, where: tuple[int, int]) -> Head:
    """Key/value head ``where``. Calm scores, |score| <= |query| |key|, keep exp and its products normal numbers."""
    key = np.ascontiguousarray(p.key[where], p.dtype)
    value = aligned_copy(p.value[where], p.dtype)
    size, info = np.abs(value), np.finfo(p.dtype)
    size[size == 0] = 1
    most, least = size.max(initial=1) * max(1, len(key)), size.min(initial=1)
    room = min(np.log(info.max) - np.log(most), np.log(least) - np.log(info.tiny / info.eps)) - 1
    longest = room / np.sqrt(np.einsum("sd,sd->s", key, key).max(initial=0))
    if most < info.max / 2:
        return Head(key, value, longest, None)
    finite = np.isfinite(value)
    wild = {int(j): np.where(finite[j], 0, value[j]) for j in np.flatnonzero(~finite.all(axis=1))}
    return Head(key, np.where(finite, value / 2, 0).astype(p.dtype), -1, wild)


def aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """An empty array that begins with a cache line, which makes products 10 % faster; np.empty seldom gives one."""
    room = np.empty(math.prod(shape) * np.dtype(dtype).itemsize + 64, np.uint8)
    return np.ndarray(shape, dtype, room, -room.ctypes.data % 64)


def aligned_copy(array: Array, dtype: Any) -> Array:
    """The same for a copy."""
    copy = aligned(array.shape, dtype)
    copy[:] = array
    return copy


def limit(visible: Array, dtype: Any, least: float) -> Array:
    """inf where visible, else ``least``."""
    return np.maximum((visible.astype(dtype) - 0.5) * np.inf, least)
