"""Positions in PyTorch: sinusoidal encoding, rotary embedding, ALiBi slopes, relative bias; on any device.

Shapes: B batch entries, H heads, L tokens, D width. Angles are computed in float32 at least.
"""

from typing import Any

import torch

Array = Any


def positional_encoding(x: Array, *, offset: int = 0) -> Array:
    """``x`` (B, L, D) plus sines and cosines of its positions: Vaswani et al. (2017), section 3.5.

    The last column of an odd width is a sine. ValueError for malformed input.
    """
    want(x.ndim == 3, "x (B, L, D)", tuple(x.shape))
    length, width = x.shape[1:]
    high = torch.promote_types(x.dtype, torch.float32)
    positions = torch.arange(offset, offset + length, dtype=high, device=x.device)
    angles = torch.outer(positions, frequencies(width, 10000.0, positions))  # (L, ⌈D/2⌉)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (L, ⌈D/2⌉, 2)
    return (x.to(high) + pairs.flatten(-2)[:, :width]).to(x.dtype)


def rotary_embedding(
    x: Array, *, offset: int = 0, rotary_dim: int | None = None, base: float = 10000.0, positions: Array | None = None
) -> Array:
    """``x`` (B, H, L, D), its neighbouring features turned by their positions: Su et al., RoFormer (2021), eq. 34.

    rotary_dim (even): so many features are turned, the rest is left; positions (B, L): instead of offset, offset + 1…
    ValueError for malformed input.
    """
    width = x.shape[-1] if rotary_dim is None else rotary_dim
    want(x.ndim == 4, "x (B, H, L, D)", tuple(x.shape))
    want(width % 2 == 0 and 0 <= width <= x.shape[3], f"an even rotary_dim up to {x.shape[3]}", width)
    if positions is None:
        positions = torch.arange(offset, offset + x.shape[2], device=x.device)[None]
    want(tuple(positions.shape) in ((1, x.shape[2]), (x.shape[0], x.shape[2])), "positions (B, L)", positions.shape)
    positions = positions.to(torch.promote_types(x.dtype, torch.float32))
    angles = positions[:, None, :, None] * frequencies(width, base, positions)  # (1 or B, 1, L, width/2)
    cos, sin = angles.cos(), angles.sin()
    turning, rest = x[..., :width].to(positions.dtype), x[..., width:]
    even, odd = turning[..., 0::2], turning[..., 1::2]  # (B, H, L, width/2)
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)  # (B, H, L, width/2, 2)
    return torch.cat([turned.flatten(-2).to(x.dtype), rest], dim=-1)


def frequencies(width: int, base: float, like: Array) -> Array:
    """The angle from one position to the next, for each pair of features: from 1 down almost to 1/base."""
    return base ** -(torch.arange(0, width, 2, dtype=like.dtype, device=like.device) / max(width, 1))  # (⌈width/2⌉)


def make_alibi_slopes(heads: int) -> Array:
    """(heads,): one slope for each head, Press et al., ALiBi (2022), section 3, by the rule of its authors' code."""
    want(heads >= 1, "1 head or more", heads)
    power = 1 << (heads.bit_length() - 1)  # the largest power of two up to heads
    missing = geometric(2 * power)[0::2][: heads - power]
    return torch.cat([geometric(power), missing])


def geometric(heads: int) -> Array:
    """From 2^(-8/heads) down to 2^-8, each slope the same part of the one before."""
    return torch.exp2(-8 / heads * torch.arange(1, heads + 1, dtype=torch.float32))


def relative_bias(table: Array, queries: int, keys: int) -> Array:
    """(H, L, S): the entry of ``table`` (H, 2R+1) for how far the key lies after the query, R at most either way.

    Shaw et al. (2018), eq. 4. ValueError for malformed input.
    """
    want(table.ndim == 2 and table.shape[1] % 2 == 1, "table (H, 2R+1)", tuple(table.shape))
    reach = table.shape[1] // 2
    after = torch.arange(keys, device=table.device) - torch.arange(queries, device=table.device)[:, None]  # (L, S)
    return table[:, after.clamp(-reach, reach) + reach]


def want(good: bool, wanted: str, came: object) -> None:
    """ValueError that says what was wanted and what came."""
    if not good:
        raise ValueError(f"positions: wanted {wanted}, came {came}")
