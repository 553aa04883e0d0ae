"""Decoding with a cache of keys and values in NumPy, written to be read: contiguous, as a ring, or in pages.

The ring is the rolling buffer of Jiang et al., Mistral 7B (2023), section 2; pages and their table are those of Kwon et
al., PagedAttention (2023), section 4. All three are one: a sequence has slots, and its slots lie in pages.
Shapes: B sequences, Hq query heads, Hkv key/value heads, N new tokens, D key width, Dv value width.
"""

import math
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass
class Cache:
    """Token t of a sequence is in slot t of its ``slots``, or t mod slots in a ring, where it takes the oldest's place.

    Page ``table[b, s // page_size]`` of the store holds slot s of sequence b. Contiguous is one page a sequence.
    """

    key: Array  # (pages * page_size, Hkv, D)
    value: Array  # (pages * page_size, Hkv, Dv)
    length: Array  # (B,): tokens appended so far
    slots: int
    is_ring: bool
    page_size: int
    table: Array  # (B, pages a sequence); 0 where none is taken yet
    free: list[int]

    def rows(self, position: Array) -> Array:
        """Where in the store the tokens at ``position`` (B, N) are."""
        slot = position % self.slots
        page = np.take_along_axis(self.table, slot // self.page_size, axis=1)
        rows: Array = page * self.page_size + slot % self.page_size
        return rows

    def held(self) -> Array:
        """The positions (B, slots) that the slots hold, oldest first; beyond ``length`` where there is none yet."""
        oldest: Array = np.maximum(self.length - self.slots, 0)[:, None]
        return oldest + np.arange(self.slots)

    def make_room(self, lengths: Array) -> None:
        """Take pages for ``lengths`` (B,) more tokens. ValueError if there is no room for them."""
        after = self.length + lengths
        if not self.is_ring and (after > self.slots).any():
            raise ValueError(f"attend_cached: wanted at most {self.slots} tokens a sequence, came {after.max()}")
        taken, needed = (-(-np.minimum(n, self.slots) // self.page_size) for n in (self.length, after))
        for sequence in range(len(after)):
            for page in range(taken[sequence], needed[sequence]):
                self.table[sequence, page] = self.free.pop()


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
    number: Any = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    key, value = (np.zeros((batch * pages * page_size, kv_heads, width), number) for width in (key_dim, value_dim))
    table, free = np.zeros((batch, pages), np.int64), list(range(batch * pages))
    return Cache(key, value, np.zeros(batch, np.int64), slots, window is not None, page_size, table, free)


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

    ``lengths`` (B,): how many of the N are tokens, the rest being padding. The cache is changed in place.
    ValueError if the cache has no room.
    """
    batch, _, tokens, width = query.shape
    lengths = np.full(batch, tokens) if lengths is None else lengths
    cache.make_room(lengths)
    held = cache.held()  # (B, slots)
    new = cache.length[:, None] + np.arange(tokens)  # (B, N)
    end = (cache.length + lengths)[:, None]
    is_token = new < end
    key, value = (np.where(is_token[:, None, :, None], a, np.zeros(1, a.dtype)) for a in (key, value))

    old = cache.rows(held)
    keys = np.concatenate([cache.key[old].swapaxes(1, 2), key], axis=2)  # (B, Hkv, slots + N, D)
    values = np.concatenate([cache.value[old].swapaxes(1, 2), value], axis=2)  # (B, Hkv, slots + N, Dv)
    filled = np.concatenate([held < cache.length[:, None], is_token], axis=1)
    behind = new[:, :, None] - np.concatenate([held, new], axis=1)[:, None]  # (B, N, slots + N)
    visible = filled[:, None] & (behind >= 0)
    if cache.is_ring:
        visible &= behind < cache.slots
    scale = 1 / math.sqrt(width or 1) if scale is None else scale
    output = average(query, keys, values, visible[:, None], scale)

    lasting = is_token & (new >= end - cache.slots)  # (B, N): a chunk may be longer than the ring
    rows = cache.rows(new % cache.slots)[lasting]
    cache.key[rows] = key.swapaxes(1, 2)[lasting]
    cache.value[rows] = value.swapaxes(1, 2)[lasting]
    cache.length = end[:, 0]
    return output, cache


def average(query: Array, key: Array, value: Array, visible: Array, scale: float) -> Array:
    """softmax(scale·QKᵀ)·V over what is ``visible`` (B, 1, N, S), in float32 at least.

    0·NaN is NaN: values that are not finite are left out of the product, and make NaN of the queries that see them.
    """
    dtype, high = query.dtype, np.promote_types(query.dtype, np.float32)
    group = query.shape[1] // max(key.shape[1], 1)
    key, value = (np.repeat(a.astype(high), group, axis=1) for a in (key, value))
    with np.errstate(all="ignore"):
        scores = query.astype(high) @ key.mT * high.type(scale)  # (B, Hq, N, S)
        logits = np.where(visible, scores, -np.inf)
        weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        odd = ~np.isfinite(value)
        output: Array = weights @ np.where(odd, 0, value)  # (B, Hq, N, Dv)
        if odd.any():
            output[visible.astype(high) @ odd.astype(high) > 0] = np.nan
        return output.astype(dtype)
