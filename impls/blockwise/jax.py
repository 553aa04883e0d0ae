"""What jax_blockwise is made of: tiles of scores, and which of them there are.

Shapes: B batch entries, K key/value heads, G query heads that share one, L queries, S keys, D and Dv widths.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

Array = Any

QUERIES, KEYS = 512, 512
"""Of a tile."""


class Keys(NamedTuple):
    """Keys of a tile: where they start, how many they are, and if causality or the window may hide some of them."""

    start: Array
    size: int
    edge: bool


class Plan(NamedTuple):
    """What is known when the call is compiled. A query sees ``left`` keys back and ``right`` ahead at most."""

    queries: int
    keys: int
    left: int
    right: int
    softcap: float

    @property
    def rows(self) -> int:
        """How many queries a block has."""
        return share(self.queries, QUERIES)

    @property
    def columns(self) -> int:
        """How many keys a tile has."""
        return share(self.keys, KEYS)

    @property
    def narrow(self) -> int:
        """How many it has backward, where more arrays of its size are held."""
        return self.columns if self.keys <= self.columns else self.columns // 2


def share(length: int, most: int) -> int:
    """How long blocks are, of as few as can be, all alike, so that little has to be filled up; even if several."""
    return max(1, length) if length <= most else -(-length // (2 * -(-length // most))) * 2


def padded(array: Array, axis: int, multiple: int) -> Array:
    """Zeros added at the end of an axis, but not of one to broadcast, up to a multiple that is not 0."""
    missing = -array.shape[axis] % multiple if array.shape[axis] else multiple
    if array.shape[axis] == 1 or not missing:
        return array
    return jnp.pad(array, [(0, missing if at == axis % array.ndim else 0) for at in range(array.ndim)])


def apart(array: Array, kv_heads: int) -> Array:
    """Axis 1, of the query heads, as two: the key/value head, and which of those that share it."""
    return array.reshape(array.shape[0], kv_heads, array.shape[1] // max(kv_heads, 1), *array.shape[2:])


def joined(array: Array) -> Array:
    """The same backwards."""
    return array.reshape(array.shape[0], array.shape[1] * array.shape[2], *array.shape[3:])


def block(array: Array, axis: int, start: Array, size: int) -> Array:
    """``size`` entries of an axis from ``start`` on, or its only one."""
    return array if array.shape[axis] == 1 else lax.dynamic_slice_in_dim(array, start, size, axis)


def sweep(plan: Plan, first: Array, size: int, step: Callable[[Keys, Any], Any], carry: Any) -> Any:
    """``step(keys, carry)`` for the tiles that the queries from ``first`` on see: edges before and after the others."""
    last = first + plan.rows - 1

    def clip(place: Array) -> Array:
        return jnp.clip(place, 0, plan.keys)

    low, high = clip(first - plan.left) // size * size, -(-clip(last + plan.right + 1) // size) * size
    begin = jnp.minimum(-(-clip(last - plan.left) // size) * size, high)
    end = jnp.maximum(begin, clip(first + plan.right + 1) // size * size)
    parts = ((low, begin, True), (begin, end, False), (end, high, True))
    for start, stop, edge in parts if plan.keys > size else ((low, high, True),):

        def body(j: Array, carry: Any, start: Array = start, edge: bool = edge) -> Any:
            return step(Keys(start + j * size, size, edge), carry)

        carry = lax.fori_loop(0, jnp.maximum(stop - start, 0) // size, body, carry)
    return carry


def hidden(plan: Plan, options: dict[str, Array], first: Array, keys: Keys) -> list[Array]:
    """What hides keys of a tile, each to be broadcast to (B, K, G, rows, size): False where a query must not attend."""
    row, column = first + jnp.arange(plan.rows)[:, None], keys.start + jnp.arange(keys.size)
    tile = {n: block(block(o, 3, first, plan.rows), 4, keys.start, keys.size) for n, o in options.items()}
    seen = []
    if keys.edge:
        seen += [(column >= row - plan.left) & (column <= row + plan.right)]
        seen += [(column < plan.keys) & (row < plan.queries)]
    if "mask" in tile:
        seen += [tile["mask"]]
    if "bias" in tile:
        seen += [tile["bias"] != -jnp.inf]
    if "key_lengths" in tile:
        seen += [column < tile["key_lengths"]]
    if "query_segments" in tile:
        seen += [tile["query_segments"] == tile["key_segments"]]
    return seen


def logits(
    plan: Plan, query: Array, key: Array, options: dict[str, Array], first: Array, keys: Keys
) -> tuple[Array, Array]:
    """A tile's logits of scaled queries (B, K, G, rows, D) and keys (B, K, size, D), and their slope by the scores."""
    scores, slope = dot("bkgqd,bksd->bkgqs", query, key), jnp.ones((), query.dtype)
    if plan.softcap:
        capped = jnp.tanh(scores / plan.softcap)
        scores, slope = plan.softcap * capped, 1 - capped**2
    if "bias" in options:
        scores = scores + block(block(options["bias"], 3, first, plan.rows), 4, keys.start, keys.size)
    seen = hidden(plan, options, first, keys)
    return jnp.where(functools.reduce(operator.and_, seen), scores, -jnp.inf) if seen else scores, slope


def dot(axes: str, first: Array, second: Array) -> Array:
    """A product of tensors in full precision: by default float32 loses half its digits on a GPU."""
    return jnp.einsum(axes, first, second, precision="highest")


def added(array: Array, tile: Array, *places: tuple[int, Array]) -> Array:
    """``array`` with ``tile`` added at places (axis, start), summed over the axes that the array has once."""
    once = tuple(axis for axis, size in enumerate(array.shape) if size == 1)
    tile, start = tile.sum(once, keepdims=True), [jnp.zeros((), jnp.int32)] * array.ndim
    for axis, at in places:
        start[axis] = jnp.zeros((), jnp.int32) if axis in once else at.astype(jnp.int32)
    here = lax.dynamic_slice(array, start, tile.shape)
    return lax.dynamic_update_slice(array, here + tile, start)
