"""Decoding with a cache of keys and values in JAX, written to be read: contiguous, as a ring, or in pages.

The ring is the rolling buffer of Jiang et al., Mistral 7B (2023), section 2; pages and their table are those of Kwon et
al., PagedAttention (2023), section 4. All three are one: a sequence has slots, and its slots lie in pages.
Lengths and tables are kept on the host, in NumPy, which says where tokens go; nothing is changed in place.
Shapes: B sequences, Hq query heads, Hkv key/value heads, N new tokens, D key width, Dv value width.
"""

import functools
import math
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

Array = Any
Host = NDArray[Any]

matmul = functools.partial(jnp.matmul, precision="highest")  # by default float32 loses half its digits on a GPU


@dataclass(frozen=True)
class Cache:
    """Token t of a sequence is in slot t of its ``slots``, or t mod slots in a ring, where it takes the oldest's place.

    Page ``table[b, s // page_size]`` of the store holds slot s of sequence b. Contiguous is one page a sequence.
    """

    key: Array  # (pages * page_size, Hkv, D)
    value: Array  # (pages * page_size, Hkv, Dv)
    length: Host  # (B,): tokens appended so far
    slots: int
    is_ring: bool
    page_size: int
    table: Host  # (B, pages a sequence); 0 where none is taken yet
    pages_taken: int = 0

    def rows(self, position: Host) -> Host:
        """Where in the store the tokens at ``position`` (B, N) are."""
        slot = position % self.slots
        page = np.take_along_axis(self.table, slot // self.page_size, axis=1)
        rows: Host = page * self.page_size + slot % self.page_size
        return rows

    def held(self) -> Host:
        """The positions (B, slots) that the slots hold, oldest first; beyond ``length`` where there is none yet."""
        oldest: Host = np.maximum(self.length - self.slots, 0)[:, None]
        return oldest + np.arange(self.slots)

    def with_room(self, lengths: Host) -> "Cache":
        """Pages are taken for ``lengths`` (B,) more tokens. ValueError if there is no room for them."""
        after, table, taken = self.length + lengths, self.table.copy(), self.pages_taken
        if not self.is_ring and (after > self.slots).any():
            raise ValueError(f"attend_cached: wanted at most {self.slots} tokens a sequence, came {after.max()}")
        first, last = (-(-np.minimum(n, self.slots) // self.page_size) for n in (self.length, after))
        for sequence in range(len(after)):
            for page in range(first[sequence], last[sequence]):
                table[sequence, page], taken = taken, taken + 1
        return replace(self, table=table, pages_taken=taken)


def make_cache(
    batch: int,
    kv_heads: int,
    capacity: int,
    key_dim: int,
    value_dim: int,
    dtype: str,
    *,
    window: int | None = None,
    block_size: int | None = None,
) -> Cache:
    """An empty cache for ``capacity`` tokens a sequence; with ``window`` for any number, of which the last count."""
    slots = capacity if window is None else window
    page_size = slots if block_size is None else block_size
    pages = -(-slots // page_size)
    rows, number = batch * pages * page_size, jnp.dtype(dtype)
    key, value = (np.zeros((rows, kv_heads, width), number) for width in (key_dim, value_dim))
    length, table = np.zeros(batch, np.int64), np.zeros((batch, pages), np.int64)
    return Cache(key, value, length, slots, window is not None, page_size, table)


def attend_cached(
    query: Array,
    key: Array,
    value: Array,
    cache: Cache,
    *,
    lengths: Array | None = None,
    scale: float | None = None,
) -> tuple[Array, Cache]:
    """Append key (B, Hkv, N, D) and value (B, Hkv, N, Dv); query (B, Hq, N, D) sees all up to its own: (B, Hq, N, Dv).

    ``lengths`` (B,): how many of the N are tokens, the rest being padding. The cache that was given stays as it was.
    ValueError if the cache has no room.
    """
    batch, _, tokens, width = query.shape
    added = np.full(batch, tokens) if lengths is None else np.asarray(lengths)
    cache = cache.with_room(added)
    held = cache.held()  # (B, slots)
    new = cache.length[:, None] + np.arange(tokens)  # (B, N)
    end = (cache.length + added)[:, None]
    is_token = new < end

    filled = np.concatenate([held < cache.length[:, None], is_token], axis=1)
    behind = new[:, :, None] - np.concatenate([held, new], axis=1)[:, None]  # (B, N, slots + N)
    visible = filled[:, None] & (behind >= 0) & (behind < (cache.slots if cache.is_ring else np.inf))
    lasting = is_token & (new >= end - cache.slots)  # (B, N): a chunk may be longer than the ring
    to = np.where(lasting, cache.rows(new), len(cache.key))
    scale = 1 / math.sqrt(width or 1) if scale is None else scale
    store = jax.device_put((cache.key, cache.value), query.device)
    output, (keys, values) = _step(query, key, value, store, cache.rows(held), to, is_token, visible, float(scale))
    return output, replace(cache, key=keys, value=values, length=end[:, 0])


@functools.partial(jax.jit)
def _step(
    query: Array,
    key: Array,
    value: Array,
    store: tuple[Array, Array],
    old: Array,
    to: Array,
    is_token: Array,
    visible: Array,
    scale: Array,
) -> tuple[Array, tuple[Array, ...]]:
    """The output, and the store with the new tokens; ``old`` are the rows to read, ``to`` those to write.

    A row beyond the store is not written.
    """
    new = tuple(jnp.where(is_token[:, None, :, None], a, 0) for a in (key, value))
    keys, values = (jnp.concatenate([s[old].swapaxes(1, 2), a], axis=2) for s, a in zip(store, new, strict=True))
    output = average(query, keys, values, visible[:, None], scale)
    written = (s.at[to].set(a.swapaxes(1, 2), mode="drop") for s, a in zip(store, new, strict=True))
    return output, tuple(written)


def average(query: Array, key: Array, value: Array, visible: Array, scale: Array) -> Array:
    """softmax(scale·QKᵀ)·V over what is ``visible`` (B, 1, N, S), in float32 at least.

    0·NaN is NaN: values that are not finite are left out of the product, and make NaN of the queries that see them.
    """
    dtype, high = query.dtype, jnp.promote_types(query.dtype, jnp.float32)
    group = query.shape[1] // max(key.shape[1], 1)
    key, value = (jnp.repeat(a.astype(high), group, axis=1) for a in (key, value))
    scores = matmul(query.astype(high), key.mT) * scale.astype(high)  # (B, Hq, N, S)
    weights = jax.nn.softmax(jnp.where(visible, scores, -jnp.inf))
    odd = ~jnp.isfinite(value)
    seen = matmul(visible.astype(high), odd.astype(high)) > 0  # (B, Hq, N, Dv)
    return jnp.where(seen, jnp.nan, matmul(weights, jnp.where(odd, 0, value))).astype(dtype)
