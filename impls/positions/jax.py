"""Positions in JAX: sinusoidal encoding, rotary embedding, ALiBi slopes, relative bias.

Shapes: B batch entries, H heads, L tokens, D width. Angles are computed in float32 at least.
"""

from typing import Any

import jax.numpy as jnp

Array = Any


def positional_encoding(x: Array, *, offset: int = 0) -> Array:
    """``x`` (B, L, D) plus sines and cosines of its positions: Vaswani et al. (2017), section 3.5.

    The last column of an odd width is a sine. ValueError for malformed input.
    """
    want(x.ndim == 3, "x (B, L, D)", x.shape)
    length, width = x.shape[1:]
    high = jnp.promote_types(x.dtype, jnp.float32)
    positions = jnp.arange(offset, offset + length, dtype=high)
    angles = jnp.outer(positions, frequencies(width, 10000.0, high))  # (L, ⌈D/2⌉)
    pairs = jnp.stack([jnp.sin(angles), jnp.cos(angles)], axis=-1)  # (L, ⌈D/2⌉, 2)
    return (x.astype(high) + pairs.reshape(length, width + width % 2)[:, :width]).astype(x.dtype)


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
        positions = jnp.arange(offset, offset + x.shape[2])[None]
    want(positions.shape in ((1, x.shape[2]), (x.shape[0], x.shape[2])), "positions (B, L)", positions.shape)
    high = jnp.promote_types(x.dtype, jnp.float32)
    angles = positions[:, None, :, None].astype(high) * frequencies(width, base, high)  # (1 or B, 1, L, width/2)
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    even, odd = x[..., 0:width:2].astype(high), x[..., 1:width:2].astype(high)  # (B, H, L, width/2)
    turned = jnp.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)  # (B, H, L, width/2, 2)
    return jnp.concatenate([turned.reshape(*x.shape[:3], width).astype(x.dtype), x[..., width:]], axis=-1)


def frequencies(width: int, base: float, dtype: Any) -> Array:
    """The angle from one position to the next, for each pair of features: from 1 down almost to 1/base."""
    return base ** -(jnp.arange(0, width, 2, dtype=dtype) / max(width, 1))  # (⌈width/2⌉)


def make_alibi_slopes(heads: int) -> Array:
    """(heads,): one slope for each head, Press et al., ALiBi (2022), section 3, by the rule of its authors' code."""
    want(heads >= 1, "1 head or more", heads)
    power = 1 << (heads.bit_length() - 1)  # the largest power of two up to heads
    missing = geometric(2 * power)[0::2][: heads - power]
    return jnp.asarray(geometric(power) + missing, jnp.float32)


def geometric(heads: int) -> list[float]:
    """From 2^(-8/heads) down to 2^-8, each slope the same part of the one before."""
    return [2 ** (-8 * i / heads) for i in range(1, heads + 1)]


def relative_bias(table: Array, queries: int, keys: int) -> Array:
    """(H, L, S): the entry of ``table`` (H, 2R+1) for how far the key lies after the query, R at most either way.

    Shaw et al. (2018), eq. 4. ValueError for malformed input.
    """
    want(table.ndim == 2 and table.shape[1] % 2 == 1, "table (H, 2R+1)", table.shape)
    reach = table.shape[1] // 2
    after = jnp.arange(keys) - jnp.arange(queries)[:, None]  # (L, S): j - i
    return table[:, jnp.clip(after, -reach, reach) + reach]


def want(good: bool, wanted: str, came: object) -> None:
    """ValueError that says what was wanted and what came."""
    if not good:
        raise ValueError(f"positions: wanted {wanted}, came {came}")
