"""Functions of positions: their contract, exact values in float64, and how far a correct implementation may be off.

A module may have them beside ``attention``, with only those keywords that it supports. Malformed input raises
ValueError. Shapes: B batch, H heads, L queries or tokens, S keys, D width.

positional_encoding(x, *, offset=0) → like x (B, L, D): x + PE of the positions offset … offset + L − 1, where
    PE[p, 2i] = sin(p / 10000^(2i/D)) and PE[p, 2i+1] = cos(p / 10000^(2i/D)); the last column of an odd D is a sine.
    Vaswani et al. 2017, Attention Is All You Need, section 3.5.
rotary_embedding(x, *, offset=0, rotary_dim=None, base=10000.0, positions=None) → like x (B, H, L, D), or (B, L, H, D)
    under ``layout`` BLHD: the first ``rotary_dim`` features (an even number; all by default) in pairs (a, b), each
    turned to (a·cos − b·sin, a·sin + b·cos) of p·base^(−2i/rotary_dim), i its number; the other features as they
    are. Pairs are neighbours, (x_2i, x_2i+1), under ``rotary_layout`` "interleaved", and (x_i, x_i+rotary_dim/2)
    under "half-split" (GPT-NeoX, LLaMA). ``positions`` (B, L), integers of 0 or more, replace those from offset on.
    Su et al. 2021, RoFormer (arXiv:2104.09864), eq. 34.
make_alibi_slopes(heads) → (heads,) float32, for the option ``alibi_slopes``: 2^(−8i/heads), i from 1, where heads is a
    power of two, and for all heads under ``alibi_rule`` "geometric". Under "two-series" the slopes of the largest
    power n below it, then those of 2n with odd i, as many as are missing, as in the authors' code.
    Press et al. 2022, ALiBi (arXiv:2108.12409), section 3.
relative_bias(table, queries, keys) → (H, L, S) in the dtype of table (H, 2R+1), for the option ``bias``:
    table[h, clip(j − i, −R, R) + R], query i and key j counted from the first of each.
    Shaw et al. 2018 (arXiv:1803.02155), eq. 3 and 4.

Error bounds, u being the accumulator's unit roundoff and γ_n = n·u/(1 − n·u) (Higham, eq. 3.4). Positions and angles
are kept in float32 at least, whatever the dtype of x.

1. A frequency base^(−e), e = 2i/D: three roundings of the exponent (constant, quotient, product) change it by the
   factor exp(γ_3·e·ln base) at most. Power or exponential are granted 4 units in the last place, 8u; reciprocal and
   product with the position are rounded: γ_10. So an angle θ is off by θ·(exp(γ_3·e·ln base)·(1 + γ_10) − 1) at most.
2. Sine and cosine have slope 1 at most, and are granted 4 units in the last place; storing them rounds once: that and
   the angle's error make τ.
3. x + PE: τ, then the sum is rounded where it is made and where it is returned.
4. A rotation, relative to |a| + |b|: τ; products, conversions and the sum are rounded in the type that intermediates
   are stored in, the result in that of x.
5. A slope, made by a power or by repeated products, rounded at each head: γ_(10·heads + 20) of float32.
6. A relative bias is read from the table: 0.

Underflow of x and of its products costs up to four of the smallest numbers.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from attnspec.specs.bound import UNIT_ROUNDOFF, Precision, gamma
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Array

BASE = 10000.0


class Exact(NamedTuple):
    """The values of a function, and how far each may be off."""

    values: Floats
    bound: Floats


def encoded(x: Array, precision: Precision, offset: int = 0) -> Exact:
    """positional_encoding(x (B, L, D), offset=offset)."""
    length, width = x.shape[-2:]
    angles, errors = _angles(np.arange(offset, offset + length), width, BASE, precision)  # (L, ⌈D/2⌉)
    encoding, off = np.zeros((length, width)), np.zeros((length, width))
    encoding[:, 0::2], encoding[:, 1::2] = np.sin(angles), np.cos(angles)[:, : width // 2]
    off[:, 0::2], off[:, 1::2] = errors, errors[:, : width // 2]
    values = np.asarray(x, np.float64) + encoding
    rounded = (2 * precision.output + precision.stored) * (np.abs(values) + off)
    return Exact(values, np.broadcast_to(off, values.shape) + rounded + 4 * (precision.smallest + precision.returned))


def rotated(
    x: Array,
    precision: Precision,
    layout: str,
    offset: int = 0,
    rotary_dim: int | None = None,
    base: float = BASE,
    positions: Array | None = None,
) -> Exact:
    """rotary_embedding(x (B, H, L, D), …) under the convention rotary_layout = ``layout``."""
    values, bound = np.array(x, np.float64), np.zeros(x.shape)
    length, width = x.shape[2], x.shape[3] if rotary_dim is None else rotary_dim
    counted = np.arange(offset, offset + length)[None] if positions is None else positions  # (1 or B, L)
    angles, errors = _angles(counted[:, None], width, base, precision)  # (1 or B, 1, L, width / 2)
    first, second = pairs(width, layout)
    a, b = values[..., first], values[..., second]  # (B, H, L, width / 2)
    values[..., first] = a * np.cos(angles) - b * np.sin(angles)
    values[..., second] = a * np.sin(angles) + b * np.cos(angles)
    roundings = gamma(4, precision.stored) + 2 * precision.output
    off = (np.abs(a) + np.abs(b)) * (errors + (1 + errors) * roundings) + 4 * (precision.smallest + precision.returned)
    bound[..., first] = bound[..., second] = off
    return Exact(values, bound)


def pairs(width: int, layout: str) -> tuple[Any, Any]:
    """Where the first and the second of each pair of features stand."""
    index = np.arange(width)
    return (index[0::2], index[1::2]) if layout == "interleaved" else (index[: width // 2], index[width // 2 :])


def _angles(positions: Array, width: int, base: float, precision: Precision) -> tuple[Floats, Floats]:
    """(…, ⌈width/2⌉): p·base^(−2i/width), and how far its sine and cosine may be off."""
    exponents = np.arange(0, width, 2) / max(width, 1)
    angles = np.asarray(positions, np.float64)[..., None] * base**-exponents
    u = precision.accumulator
    relative = np.exp(gamma(3, u) * exponents * abs(math.log(base))) * (1 + gamma(10, u)) - 1
    return angles, angles * relative + 8 * u + precision.stored


def slopes(heads: int, rule: str) -> Exact:
    """make_alibi_slopes(heads) under the convention alibi_rule = ``rule``."""
    power = 1 << (heads.bit_length() - 1)  # the largest power of two up to heads
    if rule == "geometric" or power == heads:
        values = _series(heads)
    else:
        values = np.concatenate([_series(power), _series(2 * power)[0::2][: heads - power]])
    return Exact(values, gamma(10 * heads + 20, UNIT_ROUNDOFF["float32"] + UNIT_ROUNDOFF["float64"]) * values)


def _series(heads: int) -> Floats:
    return np.asarray(2.0 ** (-8 * np.arange(1, heads + 1) / heads))


def distance_bias(table: Array, queries: int, keys: int) -> Array:
    """relative_bias(table, queries, keys), element by element."""
    heads, reach = table.shape[0], table.shape[1] // 2
    bias = np.zeros((heads, queries, keys), table.dtype)
    for i in range(queries):
        for j in range(keys):
            bias[:, i, j] = table[:, min(max(j - i, -reach), reach) + reach]
    return bias
