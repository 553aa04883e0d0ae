"""Decoding with a cache in NumPy as a chain of steps. A mutant replaces one of them and leaves the rest right.

Shapes: B sequences, Hq query heads, Hkv key/value heads, N new tokens, D key and Dv value dimension, P held tokens.
"""

import math

import numpy as np

from attnspec.mutants.correct import numpy_steps

ARRAYS = "numpy"


class Cache:
    """Keys (B, slots, Hkv, D) and values of the tokens that came; in pages, slots lie where the table says."""

    @staticmethod
    def attention(query, key, value, *, scale=None):
        return numpy_steps.attention(query, key, value, scale=scale)

    @classmethod
    def make_cache(cls, batch, kv_heads, capacity, key_dim, value_dim, dtype, *, window=None, block_size=None):
        return cls(batch, kv_heads, capacity, key_dim, value_dim, dtype, window, block_size)

    @classmethod
    def attend_cached(cls, query, key, value, cache, *, lengths=None, scale=None):
        lengths = np.full(len(query), query.shape[2]) if lengths is None else lengths
        with np.errstate(all="ignore"):
            return cache.step(query, key, value, lengths, scale), cache

    def __init__(self, batch, kv_heads, capacity, key_dim, value_dim, dtype, window, block_size):
        self.capacity, self.window, self.block_size = capacity, window, block_size
        self.slots = self.slot_count()
        self.pages = -(-self.slots // block_size) if block_size else 1
        rows = self.pages * block_size if block_size else self.slots
        self.key = self.unused((batch, rows, kv_heads, key_dim), dtype)
        self.value = self.unused((batch, rows, kv_heads, value_dim), dtype)
        self.length = np.zeros(batch, np.int64)
        self.table = self.block_table(batch)

    def slot_count(self):
        return self.window or self.capacity

    def unused(self, shape, dtype):
        return np.zeros(shape, dtype)

    def block_table(self, batch):
        """(B, pages): the last page first in even sequences, the first page first in odd ones."""
        pages = np.arange(self.pages)
        return np.stack([pages[::-1] if b % 2 == 0 else pages for b in range(batch)])

    def step(self, query, key, value, lengths, scale):
        self.check_room(lengths)
        key, value = self.without_padding(key, lengths), self.without_padding(value, lengths)
        keys, values, position = self.joined(key, value, lengths)
        visible = self.visible(self.query_position(query.shape[2], lengths), position)
        output = self.average(query, keys, values, visible, scale)
        self.write(key, value, lengths)
        self.length = self.length + lengths
        return output

    def check_room(self, lengths):
        if self.window is None and (self.length + lengths > self.capacity).any():
            raise ValueError("attend_cached: wanted no more tokens than there is room for")

    def without_padding(self, array, lengths):
        real = np.arange(array.shape[2]) < lengths[:, None]
        return np.where(real[:, None, :, None], array, np.zeros(1, array.dtype))

    def slot(self, position):
        """Which of its slots a token takes."""
        return position % self.slots if self.window else position

    def row(self, slot):
        """Where a slot (B, P) lies."""
        if self.block_size is None:
            return slot
        page = np.take_along_axis(self.table, np.minimum(slot // self.block_size, self.pages - 1), axis=1)
        return page * self.block_size + slot % self.block_size

    def held(self):
        """(B, P): the positions of the tokens that are held, -1 for a slot without one."""
        oldest = np.maximum(self.length - self.slots, 0) if self.window else np.zeros_like(self.length)
        position = oldest[:, None] + np.arange(self.slots)
        return np.where(position < self.length[:, None], position, -1)

    def read(self, store, position):
        """(B, Hkv, P, D): what stands at the positions."""
        rows = self.row(self.slot(np.maximum(position, 0)))
        return np.take_along_axis(store, rows[:, :, None, None], axis=1).swapaxes(1, 2)

    def joined(self, key, value, lengths):
        """Keys and values (B, Hkv, P + N, D), those that are held before the new ones, and their positions."""
        held, new = self.held(), self.new_position(key.shape[2], lengths)
        keys = np.concatenate([self.read(self.key, held), key], axis=2)
        values = np.concatenate([self.read(self.value, held), value], axis=2)
        return keys, values, np.concatenate([held, new], axis=1)

    def new_position(self, tokens, lengths):
        """(B, N): the positions of the new tokens, -1 for padding."""
        return np.where(np.arange(tokens) < lengths[:, None], self.length[:, None] + np.arange(tokens), -1)

    def query_position(self, tokens, lengths):
        """(B, N): the positions of the queries."""
        return self.length[:, None] + np.arange(tokens)

    def visible(self, query, key):
        """(B, N, P): which keys each query sees, of their positions."""
        behind = query[:, :, None] - key[:, None]
        visible = (key >= 0)[:, None] & (behind >= 0)
        return visible & (behind < self.window) if self.window else visible

    def scores(self, query, keys, scale):
        return query @ keys.swapaxes(2, 3) * (1 / math.sqrt(query.shape[3]) if scale is None else scale)

    def average(self, query, keys, values, visible, scale):
        high = np.promote_types(query.dtype, np.float32)
        keys, values = (np.repeat(a.astype(high), query.shape[1] // a.shape[1], axis=1) for a in (keys, values))
        logits = np.where(visible[:, None], self.scores(query.astype(high), keys, scale), -np.inf)
        weights = np.exp(logits - logits.max(3, keepdims=True))
        return self.weighted(weights / weights.sum(3, keepdims=True), values, visible).astype(query.dtype)

    def weighted(self, weights, values, visible):
        odd = ~np.isfinite(values)
        seen = visible[:, None].astype(values.dtype) @ odd.astype(values.dtype) > 0
        return np.where(seen, np.nan, weights @ np.where(odd, 0, values))

    def write(self, key, value, lengths):
        """Put the new tokens into their slots; of a chunk longer than the window, the last."""
        for b in range(len(key)):
            for token in range(max(lengths[b] - self.slots, 0), lengths[b]):
                row = self.row(self.slot(np.full((len(key), 1), self.length[b] + token)))[b, 0]
                self.key[b, row], self.value[b, row] = key[b, :, token], value[b, :, token]


attention, make_cache, attend_cached = Cache.attention, Cache.make_cache, Cache.attend_cached
