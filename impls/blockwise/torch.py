"""What torch_blockwise is made of: tiles of scores, and which of them there are.

Shapes: B batch entries, K key/value heads, G query heads that share one, L queries, S keys, D and Dv widths.
"""

import functools
import math
import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

Array = Any

QUERIES, WIDE, NARROW = 256, 512, 128
"""Queries and keys of a tile; narrow ones follow the edge of what causality or the window hides."""


class Plan(NamedTuple):
    """What all tiles share. A query sees ``left`` keys back and ``right`` ahead at most."""

    queries: int
    keys: int
    left: int
    right: int
    softcap: float

    def blocks(self) -> Iterator[slice]:
        """The queries, a block at a time."""
        for start in range(0, self.queries, QUERIES):
            yield slice(start, min(start + QUERIES, self.queries))

    def tiles(self, rows: slice) -> Iterator[tuple[slice, bool]]:
        """The keys that some of the queries ``rows`` see, and if causality or the window hides some from others."""
        start, stop = max(0, rows.start - self.left), min(self.keys, rows.stop + self.right)
        while start < stop:
            within = start >= rows.stop - 1 - self.left
            open_until = min(stop, rows.start + self.right + 1) if within else start
            end = min(start + WIDE, open_until) if open_until > start else min(start + NARROW, stop)
            yield slice(start, end), open_until <= start
            start = end


def part(array: Array, rows: slice, keys: slice) -> Array:
    """A tile of an option with five axes, of which the last two may be 1."""
    return array[:, :, :, rows if array.shape[3] > 1 else slice(None), keys if array.shape[4] > 1 else slice(None)]


def hidden(plan: Plan, options: dict[str, Array], rows: slice, keys: slice, edge: bool, device: Any) -> list[Array]:
    """What hides keys of a tile, each to be broadcast to (B, K, G, rows, keys): True where a query must not attend."""
    column = torch.arange(keys.start, keys.stop, device=device)
    tile, found = {name: part(option, rows, keys) for name, option in options.items()}, []
    if edge:
        after = column - torch.arange(rows.start, rows.stop, device=device)[:, None]
        found += [(after < -plan.left) | (after > plan.right)]
    if "mask" in tile:
        found += [~tile["mask"]]
    if "bias" in tile:
        found += [tile["bias"] == -math.inf]
    if "key_lengths" in tile:
        found += [column >= tile["key_lengths"]]
    if "query_segments" in tile:
        found += [tile["query_segments"] != tile["key_segments"]]
    return found


def logits(
    plan: Plan, query: Array, key: Array, options: dict[str, Array], rows: slice, keys: slice, edge: bool
) -> tuple[Array, Array | None, Array | None]:
    """A tile's logits of scaled queries (B, K, G, rows, D) and all keys, their slope by the scores if not 1, and which
    are hidden if some are."""
    scores, slope = query @ key[:, :, None, keys].mT, None
    if plan.softcap:
        capped = torch.tanh(scores / plan.softcap)
        scores, slope = plan.softcap * capped, 1 - capped**2
    if "bias" in options:
        scores = scores + part(options["bias"], rows, keys)
    unseen = hidden(plan, options, rows, keys, edge, key.device)
    if not unseen:
        return scores, slope, None
    one = functools.reduce(operator.or_, unseen)
    return scores.masked_fill(one, -math.inf), slope, one


def exponentials(logits: Array, unseen: Array | None) -> Array:
    """exp, in place and for no derivative; of what is hidden that of 0: MKL's takes five times as long for -inf."""
    if unseen is None:
        return logits.exp_()
    seen = (~unseen).to(logits.dtype)
    return logits.clamp_(min=torch.log1p(-seen)).exp_().mul_(seen)


def reduced(tile: Array, like: Array) -> Array:
    """A tile summed over the axes that ``like`` has once."""
    once = [axis for axis, size in enumerate(like.shape) if size == 1]
    return tile.sum(once, keepdim=True) if once else tile
