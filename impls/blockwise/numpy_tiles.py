"""Tiles of scores: which of them there are, and what options do to them.

A tile is held (N, keys, W): N strips of W queries each.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnspec.impls.blockwise.numpy_problem import Problem, Sizes, limit

Array = NDArray[Any]

PRODUCT = 10**6
"""Multiplications in one product up to which OpenBLAS does not copy the factors first: a fifth faster with AVX-512."""


class Tile(NamedTuple):
    """Queries (N, W) and keys whose scores are held at once; ``cut`` if causality or window hides some of them."""

    batch: int
    head: int
    rows: Array
    keys: slice
    cut: bool


def tile_size(sizes: Sizes, rows: int, dim: int) -> tuple[int, int]:
    """Queries a strip and keys a tile. One strip if dim is too large for products of which many make a tile."""
    width = min(sizes.strip, rows)
    keys = PRODUCT // (width * dim) // 8 * 8
    return (width, min(keys, sizes.keys)) if keys >= sizes.strip else (rows, sizes.keys)


def tiles(p: Problem, batch: int, rows: Array, most: int) -> Iterator[tuple[slice, slice, bool]]:
    """Strips, keys, at most ``most``, and ``cut`` of a block's tiles, without what is hidden as a whole."""
    left, right = p.reach
    first, last, width = int(rows[0, 0]), int(rows[-1, -1]), rows.shape[1]
    length = p.options["key_lengths"][batch] if "key_lengths" in p.options else p.key.shape[2]
    end = min(p.key.shape[2], last + 1 + right, int(length))
    i = max(0, first - left)
    while i < end:
        j = min(i + most, end)
        cut = j - 1 > first + right or i < last - left
        low, high = max(first, i - right), min(last + 1, j + left)
        if low < high:
            yield slice((low - first) // width, -((first - high) // width)), slice(i, j), cut
        i = j


def alter(p: Problem, tile: Tile, scores: Array, least: float) -> None:
    """Cap, bias and hide the scores (N, keys, W) of a tile, in place; ``least`` takes the place of hidden ones."""
    batch, head, rows, keys, cut = tile
    if p.softcap:
        np.tanh(np.divide(scores, p.softcap, out=scores), out=scores)
        scores *= p.softcap
    if "bias" in p.options:
        bias = p.options["bias"][batch, head, rows, keys].swapaxes(1, 2).astype(p.dtype, order="C")
        scores += bias
        hide(scores, bias != -np.inf, least)
    if "alibi_slopes" in p.options:
        distance = np.abs(rows[:, None] - np.arange(keys.start, keys.stop)[:, None]).astype(p.dtype)
        scores -= p.options["alibi_slopes"][head].astype(p.dtype) * distance
    if cut:
        np.fmin(scores, band(p, rows, keys, least), out=scores)
    if "mask" in p.options:
        hide(scores, p.options["mask"][batch, head, rows, keys].swapaxes(1, 2), least)
    if "key_segments" in p.options:
        queries = p.options["query_segments"][batch, rows]
        hide(scores, p.options["key_segments"][batch, keys, None] == queries[:, None], least)


def hide(scores: Array, visible: Array, least: float) -> None:
    """``least`` where not visible. fmin also replaces NaN and, unlike a masked copy, branches for no element."""
    np.fmin(scores, limit(visible, scores.dtype, least), out=scores)


def band(p: Problem, rows: Array, keys: slice, least: float) -> Array:
    """What ``limits`` says of each pair (N, keys, W): a view, for which a strip's filling counts as further queries."""
    (strips, width), limits = rows.shape, p.limits[least]
    size = limits.itemsize
    start = (int(rows[0, 0]) - keys.start + p.key.shape[2]) * size
    shape = strips, keys.stop - keys.start, width
    return np.ndarray(shape, p.dtype, limits, start, (width * size, -size, size))


def add_wild(wild: dict[int, Array], keys: slice, scores: Array, spill: Array) -> None:
    """Add the values that are not finite to the queries of ``spill`` (N, W, Dv) that see them."""
    for j in wild.keys() & set(range(keys.start, keys.stop)):
        spill[scores[:, j - keys.start] != -np.inf] += wild[j]
