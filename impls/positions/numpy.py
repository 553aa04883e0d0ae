"""Positions in NumPy: sinusoidal encoding, rotary embedding, ALiBi slopes, relative bias.

Shapes: B batch entries, H heads, L tokens, D width. Angles are computed in float64.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def positional_encoding(x: Array, *, offset: int = 0) -> Array:
    """``x`` (B, L, D) plus sines and cosines of its positions: Vaswani et al. (2017), section 3.5.

    The last column of an odd width is a sine. ValueError for malformed input.
    """
    want(x.ndim == 3, "x (B, L, D)", x.shape)
    length, width = x.shape[1:]
    angles = np.arange(offset, offset + length)[:, None] * frequencies(width)  # (L, ⌈D/2⌉)
    encoding = np.empty((length, width))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles[:, : width // 2])
    high = np.promote_types(x.dtype, np.float32)
    encoded: Array = x.astype(high) + encoding.astype(high)
    return encoded.astype(x.dtype)


def rotary_embedding(
    x: Array, *, offset: int = 0, rotary_dim: int | None = None, base: float = 10000.0, positions: Array | None = None
) -> Array:
    """``x`` (B, H, L, D), its neighbouring features turned by their positions: Su et al., RoFormer (2021), eq. 34.

    rotary_dim (even): so many features are turned, the rest is left; positions (B, L): instead of offset, offset + 1…
    ValueError for malformed input.
    """
    width = x.shape[-1] if rotary_dim is None else rotary_dim
    want(x.ndim == 4, "x (B, H, L, D)", x.shape)
    want(width % 2 == 0 and 0 <= width <= x.shape[3], f"an even rotary_dim up to {x.shape[3]}", width)
    if positions is None:
        positions = np.arange(offset, offset + x.shape[2])[None]
    want(positions.shape in ((1, x.shape[2]), (x.shape[0], x.shape[2])), "positions (B, L)", positions.shape)
    high = np.promote_types(x.dtype, np.float32)
    angles = positions[:, None, :, None] * frequencies(width, base)  # (1 or B, 1, L, width/2)
    cos, sin = np.cos(angles).astype(high), np.sin(angles).astype(high)
    even, odd = x[..., 0:width:2].astype(high), x[..., 1:width:2].astype(high)  # (B, H, L, width/2)
    turned = x.copy()
    turned[..., 0:width:2] = even * cos - odd * sin
    turned[..., 1:width:2] = even * sin + odd * cos
    return turned


def frequencies(width: int, base: float = 10000.0) -> Array:
    """The angle from one position to the next, for each pair of features: from 1 down almost to 1/base."""
    return np.asarray(base ** -(np.arange(0, width, 2) / max(width, 1)))  # (⌈width/2⌉)


def make_alibi_slopes(heads: int) -> Array:
    """(heads,): one slope for each head, Press et al., ALiBi (2022), section 3, by the rule of its authors' code."""
    want(heads >= 1, "1 head or more", heads)
    power = 1 << (heads.bit_length() - 1)  # the largest power of two up to heads
    missing = geometric(2 * power)[0::2][: heads - power]
    return np.concatenate([geometric(power), missing]).astype(np.float32)


def geometric(heads: int) -> Array:
    """From 2^(-8/heads) down to 2^-8, each slope the same part of the one before."""
    return np.asarray(2.0 ** (-8 / heads * np.arange(1, heads + 1)))


def relative_bias(table: Array, queries: int, keys: int) -> Array:
    """(H, L, S): the entry of ``table`` (H, 2R+1) for how far the key lies after the query, R at most either way.

    Shaw et al. (2018), eq. 4. ValueError for malformed input.
    """
    want(table.ndim == 2 and table.shape[1] % 2 == 1, "table (H, 2R+1)", table.shape)
    reach = table.shape[1] // 2
    after = np.arange(keys) - np.arange(queries)[:, None]  # (L, S): j - i
    return np.asarray(table[:, np.clip(after, -reach, reach) + reach])


def want(good: bool, wanted: str, came: object) -> None:
    """ValueError that says what was wanted and what came."""
    if not good:
        raise ValueError(f"positions: wanted {wanted}, came {came}")
