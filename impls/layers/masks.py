"""Masks and truncation, from lengths and token ids. True means: may be attended to.

A mask is (queries, keys) or (B, heads, queries, keys), where sizes of 1 broadcast. Masks are combined by ``&``. One of
two axes is never (B, keys): where B is the number of queries it could not be told apart.
"""

from numbers import Integral
from typing import Literal

from array_api_compat import array_namespace, device, is_array_api_obj

from attnspec.impls.layers.checks import described, holds, is_kind, want, want_ids, whole
from attnspec.impls.layers.parameters import Array


def padding_mask(lengths: Array, length: int) -> Array:
    """(B, 1, 1, length): the first lengths[b] keys of sequence b. ``lengths`` (B,) are integers from 0 to length.

    ValueError for others.
    """
    want(whole(length), "padding_mask", "a length of 0 or more", repr(length))
    fits = is_kind(lengths, "integral") and lengths.ndim == 1
    want(fits, "padding_mask", "lengths (B,) of integers", described(lengths))
    within = holds((lengths >= 0) & (lengths <= length))
    want(within, "padding_mask", f"lengths from 0 to {length}", f"{lengths}")
    xp = array_namespace(lengths)
    positions = xp.arange(length, device=device(lengths))
    return positions[None, None, None, :] < lengths[:, None, None, None]


def padding_mask_of_ids(ids: Array, padding: int) -> Array:
    """(B, 1, 1, n): the tokens of ``ids`` (B, n) that are not ``padding``, wherever in the sequence they stand.

    ValueError for ids that are no array (B, n) of integers, and a padding that is none.
    """
    want_ids("padding_mask_of_ids", ids)
    want(isinstance(padding, Integral), "padding_mask_of_ids", "an integer as padding", repr(padding))
    return (ids != padding)[:, None, None, :]


def causal_mask(length: int, like: Array, *, offset: int = 0) -> Array:
    """(length, offset + length): query i, at position offset + i, sees the keys up to itself; where ``like`` is.

    ValueError for a negative length or offset.
    """
    want(whole(length), "causal_mask", "a length of 0 or more", repr(length))
    want(whole(offset), "causal_mask", "an offset of 0 or more", repr(offset))
    xp = array_namespace(like)
    keys = xp.arange(offset + length, device=device(like))
    return keys[None, :] <= keys[offset:, None]


def truncate(ids: Array, length: int, side: Literal["right", "left"] = "right") -> Array:
    """``ids`` (B, n) cut to ``length`` tokens at most; "right" cuts the end off, "left" the beginning.

    ValueError for a negative length, another side, and ids that are no array (B, n).
    """
    want(is_array_api_obj(ids) and ids.ndim == 2, "truncate", "ids (B, n)", described(ids))
    want(whole(length), "truncate", "a length of 0 or more", repr(length))
    want(side in ("right", "left"), "truncate", "side 'right' or 'left'", repr(side))
    return ids[:, :length] if side == "right" else ids[:, max(ids.shape[1] - length, 0) :]
