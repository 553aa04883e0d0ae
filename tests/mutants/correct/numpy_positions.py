"""The functions of positions in NumPy as chains of steps. A mutant replaces one of them and leaves the rest right.

Shapes: B batch, H heads, L tokens or queries, S keys, D width.
"""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}


def attention(query, key, value):
    """Without options, so that the plan is short."""
    return Steps.attention(query, key, value)


def lifted(array):
    return array.astype(np.promote_types(array.dtype, np.float32))


class Encoding:
    """x (B, L, D) plus sines and cosines of its positions."""

    @classmethod
    def positional_encoding(cls, x, *, offset=0):
        call = cls()
        call.offset = offset
        return call.added(lifted(x)).astype(x.dtype)

    def added(self, x):
        return x + self.table(*x.shape[1:]).astype(x.dtype)

    def positions(self, length):
        return np.arange(self.offset, self.offset + length)

    def exponents(self, width):
        """One for each pair, the last alone in an odd width."""
        return np.arange(0, width, 2) / max(width, 1)

    def table(self, length, width):
        """(L, D)"""
        angles = self.positions(length)[:, None] * 10000.0 ** -self.exponents(width)
        table = np.empty((length, width))
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = self.cosines(angles, width)
        return table

    def cosines(self, angles, width):
        return np.cos(angles)[:, : width // 2]


class Rotary:
    """x (B, H, L, D) with neighbouring features turned by their position."""

    @classmethod
    def rotary_embedding(cls, x, *, offset=0, rotary_dim=None, base=10000.0, positions=None):
        call = cls()
        call.offset, call.base, call.given = offset, base, positions
        call.width = x.shape[3] if rotary_dim is None else rotary_dim
        return call.run(x)

    def run(self, x):
        result = x.copy()
        result[..., : self.width] = self.turned(lifted(x[..., : self.width]), self.angles(x))
        return result

    def positions(self, x):
        """(1 or B, L)"""
        return self.counted(x.shape[2]) if self.given is None else self.given

    def counted(self, length):
        return np.arange(self.offset, self.offset + length)[None]

    def frequencies(self, x):
        return self.base ** -(np.arange(0, self.width, 2) / max(self.width, 1))

    def angles(self, x):
        """(1 or B, 1, L, width/2)"""
        return self.positions(x)[:, None, :, None] * self.frequencies(x)

    def turned(self, x, angles):
        cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
        first, second = self.pairs(x)
        return self.joined(first * cos - second * sin, first * sin + second * cos)

    def pairs(self, x):
        return x[..., 0::2], x[..., 1::2]

    def joined(self, first, second):
        return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], 2 * first.shape[-1])


def geometric(heads):
    return 2.0 ** (-8 * np.arange(1, heads + 1) / heads)


def make_alibi_slopes(heads):
    power = 1 << (heads.bit_length() - 1)
    slopes = np.concatenate([geometric(power), geometric(2 * power)[0::2][: heads - power]])
    return slopes.astype(np.float32)


def relative_bias(table, queries, keys):
    reach = table.shape[1] // 2
    after = np.arange(keys) - np.arange(queries)[:, None]
    return table[:, np.clip(after, -reach, reach) + reach]


positional_encoding = Encoding.positional_encoding
rotary_embedding = Rotary.rotary_embedding
