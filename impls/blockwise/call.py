"""What every blockwise backend reads of a call in the same way, whatever its arrays are."""

from collections.abc import Mapping
from typing import Any

Array = Any
Window = tuple[int | None, int | None]


def reach(window: Window | None, is_causal: bool, most: int) -> tuple[int, int]:
    """How many keys back and ahead a query sees; ``most`` stands for all."""
    left, right = (most if side is None else max(-most, min(int(side), most)) for side in window or (None, None))
    return left, min(right, 0) if is_causal else right


def five_axes(given: Mapping[str, Array], batch: int, kv_heads: int, queries: int, keys: int) -> dict[str, Array]:
    """The options as (B or 1, K or 1, G or 1, L or 1, S or 1): K key/value heads, G query heads that share one.

    mask and bias come with up to four axes, each of its size or 1; key_lengths (B), query_segments (B, L) and
    key_segments (B, S) whole, or all without B.
    """
    shapes = {"key_lengths": (batch, 1, 1, 1, 1), "query_segments": (batch, 1, 1, queries, 1)}
    shapes |= {"key_segments": (batch, 1, 1, 1, keys)}
    return {n: a.reshape(shapes[n]) if n in shapes else _grouped(a, kv_heads) for n, a in given.items()}


def _grouped(array: Array, kv_heads: int) -> Array:
    """(…, Hq or 1, L or 1, S or 1) with all axes, and heads in groups."""
    array = array.reshape((1,) * (4 - array.ndim) + tuple(array.shape))
    batch, heads, *rest = array.shape
    return array.reshape(batch, *((1, 1) if heads == 1 else (kv_heads, heads // max(kv_heads, 1))), *rest)
