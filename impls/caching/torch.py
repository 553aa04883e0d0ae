"""Decoding with a cache of keys and values in PyTorch, written to be read: contiguous, as a ring, or in pages.

The ring is the rolling buffer of Jiang et al., Mistral 7B (2023), section 2; pages and their table are those of Kwon et
al., PagedAttention (2023), section 4. All three are one: a sequence has slots, and its slots lie in pages.
Shapes: B sequences, Hq query heads, Hkv key/value heads, N new tokens, D key width, Dv value width.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch

Array = Any


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

    def to(self, device: Any) -> None:
        """Move to where the tokens are."""
        for name in ("key", "value", "length", "table"):
            setattr(self, name, getattr(self, name).to(device))

    def rows(self, position: Array) -> Array:
        """Where in the store the tokens at ``position`` (B, N) are."""
        slot = position % self.slots
        page = self.table.gather(1, slot // self.page_size)
        return page * self.page_size + slot % self.page_size

    def held(self) -> Array:
        """The positions (B, slots) that the slots hold, oldest first; beyond ``length`` where there is none yet."""
        oldest = (self.length - self.slots).clamp(min=0)
        return oldest[:, None] + torch.arange(self.slots, device=oldest.device)

    def make_room(self, lengths: Array) -> None:
        """Take pages for ``lengths`` (B,) more tokens. ValueError if there is no room for them."""
        before, after = self.length.tolist(), (self.length + lengths).tolist()
        if not self.is_ring and max(after, default=0) > self.slots:
            raise ValueError(f"attend_cached: wanted at most {self.slots} tokens a sequence, came {max(after)}")
        for sequence, ends in enumerate(zip(before, after, strict=True)):
            taken, needed = (-(-min(end, self.slots) // self.page_size) for end in ends)
            for page in range(taken, needed):
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
    number = getattr(torch, dtype)
    key, value = (
        torch.zeros(batch * pages * page_size, kv_heads, width, dtype=number) for width in (key_dim, value_dim)
    )
    length, table = torch.zeros(batch, dtype=torch.int64), torch.zeros(batch, pages, dtype=torch.int64)
    return Cache(key, value, length, slots, window is not None, page_size, table, list(range(batch * pages)))


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
    cache.to(query.device)
    lengths = torch.full((batch,), tokens, device=query.device) if lengths is None else lengths
    cache.make_room(lengths)
    held = cache.held()  # (B, slots)
    new = cache.length[:, None] + torch.arange(tokens, device=query.device)  # (B, N)
    end = (cache.length + lengths)[:, None]
    is_token = new < end
    key, value = (a.masked_fill(~is_token[:, None, :, None], 0) for a in (key, value))

    old = cache.rows(held)
    keys = torch.cat([cache.key[old].transpose(1, 2), key], dim=2)  # (B, Hkv, slots + N, D)
    values = torch.cat([cache.value[old].transpose(1, 2), value], dim=2)  # (B, Hkv, slots + N, Dv)
    filled = torch.cat([held < cache.length[:, None], is_token], dim=1)
    behind = new[:, :, None] - torch.cat([held, new], dim=1)[:, None]  # (B, N, slots + N)
    visible = filled[:, None] & (behind >= 0)
    if cache.is_ring:
        visible = visible & (behind < cache.slots)
    scale = 1 / math.sqrt(width or 1) if scale is None else scale
    output = average(query, keys, values, visible[:, None], scale)

    lasting = is_token & (new >= end - cache.slots)  # (B, N): a chunk may be longer than the ring
    rows = cache.rows(new)[lasting]
    cache.key[rows] = key.transpose(1, 2)[lasting]
    cache.value[rows] = value.transpose(1, 2)[lasting]
    cache.length = end[:, 0]
    return output, cache


def average(query: Array, key: Array, value: Array, visible: Array, scale: float) -> Array:
    """softmax(scale·QKᵀ)·V over what is ``visible`` (B, 1, N, S), in float32 at least.

    0·NaN is NaN: values that are not finite are left out of the product, and make NaN of the queries that see them.
    """
    dtype, high = query.dtype, torch.promote_types(query.dtype, torch.float32)
    group = query.shape[1] // max(key.shape[1], 1)
    key, value = (a.to(high).repeat_interleave(group, dim=1) for a in (key, value))
    scores = query.to(high) @ key.mT * scale  # (B, Hq, N, S)
    weights = scores.masked_fill(~visible, -math.inf).softmax(dim=-1)
    odd = ~value.isfinite()
    seen = visible.to(high) @ odd.to(high) > 0  # (B, Hq, N, Dv)
    return (weights @ value.masked_fill(odd, 0)).masked_fill(seen, math.nan).to(dtype)
