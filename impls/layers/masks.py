"""Masks and truncation, from lengths and token ids. True means: may be attended to.

A mask broadcasts to (B, heads, queries, keys), and masks are combined by ``&``.
"""

from typing import Literal

from array_api_compat import array_namespace, device

from attnspec.impls.layers.parameters import Array


def padding_mask(lengths: Array, length: int) -> Array:
    """(B, 1, 1, length): the first lengths[b] keys of sequence b. ``lengths`` (B,) are integers."""
    xp = array_namespace(lengths)
    positions = xp.arange(length, device=device(lengths))
    return positions[None, None, None, :] < lengths[:, None, None, None]


def padding_mask_of_ids(ids: Array, padding: int) -> Array:
    """(B, 1, 1, n): the tokens of ``ids`` (B, n) that are not ``padding``, wherever in the sequence they stand."""
    return (ids != padding)[:, None, None, :]


def causal_mask(length: int, like: Array, *, offset: int = 0) -> Array:
    """(length, offset + length): query i, at position offset + i, sees the keys up to itself; where ``like`` is.

    ValueError for a negative offset.
    """
    if offset < 0:
        raise ValueError(f"causal_mask: wanted an offset of 0 or more, came {offset}")
    xp = array_namespace(like)
    keys = xp.arange(offset + length, device=device(like))
    return keys[None, :] <= keys[offset:, None]


def truncate(ids: Array, length: int, side: Literal["right", "left"] = "right") -> Array:
    """``ids`` (B, n) cut to ``length`` tokens at most; "right" cuts the end off, "left" the beginning.

    ValueError for a negative length or another side.
    """
    if length < 0:
        raise ValueError(f"truncate: wanted a length of 0 or more, came {length}")
    if side not in ("right", "left"):
        raise ValueError(f"truncate: wanted side 'right' or 'left', came {side!r}")
    return ids[:, :length] if side == "right" else ids[:, max(ids.shape[1] - length, 0) :]
