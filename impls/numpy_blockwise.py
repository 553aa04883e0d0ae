"""Exact attention in blocks: online softmax over the keys, threads over heads and query blocks.

A thread holds QUERY_BLOCK x KEY_BLOCK scores at most; beyond inputs and output the memory is O(n).
Source: Milakov & Gimelshein 2018 (arXiv:1805.02867), Dao et al. 2022 (arXiv:2205.14135).

Shapes: B batch, Hq query heads, Hkv key/value heads, L queries, S keys, Dk key and Dv value dimension. The queries of a
block are cut into N strips of W, the last one filled up with its last query, and a tile is held (N, keys, W): its
maximum over keys and its rescaling run along contiguous memory, and np.matmul makes N products that fit in the cache.
"""

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnspec.impls.blockwise.threads import workers

Array = NDArray[Any]
Window = tuple[int | None, int | None]

ARRAYS = "numpy"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}

QUERY_BLOCK = 1024
KEY_BLOCK = 512
STRIP = 64
PRODUCT = 10**6
"""Multiplications in one product up to which OpenBLAS does not copy the factors first: a fifth faster with AVX-512."""
SMALL = 1 << 24
"""Multiplications in both products up to which threads cost more than they bring."""

ARRAY_OPTIONS = {
    "mask": ("BHLS", "boolean"),
    "bias": ("BHLS", "float"),
    "alibi_slopes": ("H", "float"),
    "sinks": ("H", "float"),
    "key_lengths": ("B", "integer"),
    "query_segments": ("BL", "integer"),
    "key_segments": ("BS", "integer"),
}
"""Axes and element kind; those with four axes broadcast."""


@np.errstate(all="ignore")
def attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    mask: Array | None = None,
    bias: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    window: Window | None = None,
    alibi_slopes: Array | None = None,
    sinks: Array | None = None,
    key_lengths: Array | None = None,
    query_segments: Array | None = None,
    key_segments: Array | None = None,
    return_lse: bool = False,
) -> Array | tuple[Array, Array]:
    """softmax(scale query key^T) value; the options are those of the canonical signature.

    query (B, Hq, L, Dk), key (B, Hkv, S, Dk), value (B, Hkv, S, Dv) -> output (B, Hq, L, Dv) in their dtype; with
    ``return_lse`` also the natural log of the denominator (B, Hq, L), float32 for half inputs. Rank 3 leaves out B,
    rank 2 also H. Computed in float32 or the widest dtype of the arguments. While a large problem is solved, NumPy's
    BLAS has one thread, in the whole process; a call uses as many threads as it had before. ValueError if malformed.
    """
    arrays = (mask, bias, alibi_slopes, sinks, key_lengths, query_segments, key_segments)
    given = {name: np.asarray(array) for name, array in zip(ARRAY_OPTIONS, arrays, strict=True) if array is not None}
    query, key, value = np.asarray(query), np.asarray(key), np.asarray(value)
    sizes, options = _checked(query, key, value, given, window)
    problem = _Problem(
        query=_lifted(query),
        key=_lifted(key),
        value=_lifted(value),
        options=options,
        dtype=_widest(query, *(array for array in given.values() if _kind(array) == "float")),
        scale=1 / math.sqrt(sizes["D"] or 1) if scale is None else float(scale),
        softcap=float(softcap or 0),
        reach=_reach(window, is_causal, sizes["L"] + sizes["S"]),
    )
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    lse = np.empty(query.shape[:-1], np.float32 if query.itemsize == 2 else query.dtype)
    _solve(problem, _lifted(output), _lifted(lse, 3))
    return (output, lse) if return_lse else output


@dataclass(frozen=True)
class _Problem:
    """The call, read. Arrays are views with all axes; a query sees ``reach`` = (left, right) keys back and ahead."""

    query: Array
    key: Array
    value: Array
    options: dict[str, Array]
    dtype: Any
    scale: float
    softcap: float
    reach: tuple[int, int]

    @functools.cached_property
    def limits(self) -> Array:
        """inf if a query sees a key, else -inf, at place S + query - key."""
        queries, keys = self.query.shape[2], self.key.shape[2]
        ahead = np.arange(-keys, queries + STRIP)
        return _limit((ahead <= self.reach[0]) & (ahead >= -self.reach[1]), self.dtype)

    def has(self, *names: str) -> bool:
        """Whether any of these array options is given."""
        return not self.options.keys().isdisjoint(names)


class _Head(NamedTuple):
    """A key/value head: key (S, Dk), value (S, Dv).

    ``longest``: a query up to this length, times scale, makes no score that needs another subtracted before exp.
    ``wild``: None, or for values too large to add up or not finite, in rows {key: (Dv,)}. Such a head has its finite
    values halved and averaged rather than added.
    """

    key: Array
    value: Array
    longest: float
    wild: dict[int, Array] | None


class _Sums(NamedTuple):
    """Over the keys so far: greatest score and weights (N, W), weighted values (N, W, Dv); room for a tile's."""

    top: Array
    weight: Array
    total: Array
    fresh: Array


class _Tile(NamedTuple):
    """Queries (N, W) and keys whose scores are held at once; ``cut`` if causality or window hides some of them."""

    batch: int
    head: int
    rows: Array
    keys: slice
    cut: bool


def _lifted(array: Array, axes: int = 4) -> Array:
    return array[(None,) * (axes - array.ndim)]


def _checked(
    query: Array, key: Array, value: Array, given: dict[str, Array], window: object
) -> tuple[dict[str, int], dict[str, Array]]:
    """Sizes by axis letter and the options broadcast to all their axes. ValueError: wanted, came, call."""
    inputs = {"query": query, "key": key, "value": value}
    call = ", ".join(f"{name} {array.shape} {array.dtype}" for name, array in (inputs | given).items())

    def require(good: bool, wanted: str, came: object) -> None:
        if not good:
            raise ValueError(f"attention({call}): wanted {wanted}, came {came}")

    ranks, dtypes = [a.ndim for a in inputs.values()], [a.dtype.name for a in inputs.values()]
    require(len(set(ranks)) == 1 and ranks[0] in (2, 3, 4), "query, key and value of one rank, 2, 3 or 4", ranks)
    require(len(set(dtypes)) == 1 and dtypes[0] in DTYPES, f"one dtype out of {', '.join(DTYPES)}", dtypes)
    (batch, heads, queries, dim), k, v = (_lifted(array).shape for array in inputs.values())
    require(k == (batch, k[1], k[2], dim), f"key (…, S, {dim}) with the query's batch size", key.shape)
    require(v[:3] == k[:3], f"value {(*key.shape[:-1], 'Dv')} to match the key", value.shape)
    require(heads % k[1] == 0 if k[1] else heads == 0, "key heads that divide the query's", f"{k[1]} and {heads}")
    sizes = {"B": batch, "H": heads, "L": queries, "S": k[2], "D": dim}
    left_out = {4: "", 3: "B", 2: "BH"}[query.ndim]
    options = {}
    for name, array in given.items():
        axes, kind = ARRAY_OPTIONS[name]
        shape = tuple(sizes[axis] for axis in axes if axis not in left_out or axes == "H")
        require(_kind(array) == kind, f"{name} of {kind} elements", array.dtype)
        require(_fits(array.shape, shape, len(axes) == 4), f"{name} of shape {shape}", array.shape)
        options[name] = np.broadcast_to(array, tuple(sizes[axis] for axis in axes))
    require(("query_segments" in given) == ("key_segments" in given), "query_segments and key_segments together", "one")
    pair = isinstance(window, tuple | list) and len(window) == 2 and all(_is_bound(side) for side in window)
    require(window is None or pair, "window (left, right) of whole numbers or None", repr(window))
    return sizes, options


def _kind(array: Array) -> str:
    if array.dtype.name == "bfloat16":
        return "float"
    return {"b": "boolean", "f": "float", "i": "integer", "u": "integer"}.get(array.dtype.kind, "other")


def _widest(*arrays: Array) -> np.dtype[Any]:
    """float32, or float64 where an array has it. Pairwise: float16 and bfloat16 have no common dtype of their own."""
    return functools.reduce(np.promote_types, (array.dtype for array in arrays), np.dtype(np.float32))


def _fits(came: tuple[int, ...], wanted: tuple[int, ...], broadcasts: bool) -> bool:
    if not broadcasts:
        return came == wanted
    pairs = zip(reversed(came), reversed(wanted), strict=False)
    return len(came) <= len(wanted) and all(size in (1, full) for size, full in pairs)


def _is_bound(side: object) -> bool:
    return side is None or isinstance(side, int | np.integer)


def _reach(window: Window | None, is_causal: bool, most: int) -> tuple[int, int]:
    """How many keys back and ahead a query sees; ``most`` stands for all."""
    left, right = (most if side is None else max(-most, min(int(side), most)) for side in window or (None, None))
    return left, min(right, 0) if is_causal else right


def _solve(p: _Problem, output: Array, lse: Array) -> None:
    """Fill output (B, Hq, L, Dv) and lse (B, Hq, L); the last query blocks, long if causal, go first."""
    batch, heads, queries, dim = p.query.shape
    kv_heads = list(itertools.product(range(batch), range(p.key.shape[1])))
    size = QUERY_BLOCK if batch * heads * queries >= 16 * QUERY_BLOCK else -(-QUERY_BLOCK // 2)
    blocks = itertools.product(reversed(range(0, queries, size)), range(batch), range(heads))

    @np.errstate(all="ignore")  # not inherited by threads
    def work(block: tuple[int, int, int]) -> None:
        start, b, h = block
        rows = slice(start, min(start + size, queries))
        output[b, h, rows], lse[b, h, rows] = _solve_block(p, prepared[b, h * p.key.shape[1] // heads], b, h, rows)

    with workers(batch * heads * queries * p.key.shape[2] * (dim + output.shape[-1]) > SMALL) as run:
        prepared = dict(zip(kv_heads, run(functools.partial(_prepared, p), kv_heads), strict=True))
        list(run(work, blocks))


@np.errstate(all="ignore")
def _prepared(p: _Problem, where: tuple[int, int]) -> _Head:
    """Key/value head ``where``. Calm scores, |score| <= |query| |key|, keep exp and its products normal numbers."""
    key = np.ascontiguousarray(p.key[where], p.dtype)
    value = _aligned_copy(p.value[where], p.dtype)
    size, info = np.abs(value), np.finfo(p.dtype)
    size[size == 0] = 1
    most, least = size.max(initial=1) * max(1, len(key)), size.min(initial=1)
    room = min(np.log(info.max) - np.log(most), np.log(least) - np.log(info.tiny / info.eps)) - 1
    longest = room / np.sqrt(np.einsum("sd,sd->s", key, key).max(initial=0))
    if most < info.max / 2:
        return _Head(key, value, longest, None)
    finite = np.isfinite(value)
    wild = {int(j): np.where(finite[j], 0, value[j]) for j in np.flatnonzero(~finite.all(axis=1))}
    return _Head(key, np.where(finite, value / 2, 0).astype(p.dtype), -1, wild)


def _solve_block(p: _Problem, kv: _Head, batch: int, head: int, block: slice) -> tuple[Array, Array]:
    """Output (rows, Dv) and LSE (rows,) of one query block. A spare loop: outside NumPy only one thread can run."""
    count = block.stop - block.start
    width, most = _tile_size(count, max(kv.key.shape[1], kv.value.shape[1], 1))
    rows = np.minimum(np.arange(block.start, block.stop + -count % width), block.stop - 1).reshape(-1, width)
    queries = _aligned_copy(p.query[batch, head, rows].swapaxes(1, 2), p.dtype)  # (N, Dk, W)
    longest = abs(p.scale) * np.sqrt(np.einsum("ndw,ndw->nw", queries, queries).max())
    calm = longest <= kv.longest and not p.softcap and not p.has("bias", "alibi_slopes", "sinks")
    queries *= p.scale / math.log(2) if calm else p.scale
    step = _add if calm else _absorb if kv.wild is None else _average
    sums = _start(p, head, rows.shape, calm)
    spill = np.zeros_like(sums.total)
    buffer = _aligned((len(rows), most, width), p.dtype)
    altered = p.softcap or p.has("mask", "bias", "alibi_slopes", "key_segments")
    for part, keys, cut in _tiles(p, batch, rows, most):
        scores = np.matmul(kv.key[keys], queries[part], out=buffer[part, : keys.stop - keys.start])
        if cut or altered:
            _alter(p, _Tile(batch, head, rows[part], keys, cut), scores)
        if kv.wild:
            _spill(kv.wild, keys, scores, spill[part])
        step(_Sums(*(array[part] for array in sums)), scores, kv.value[keys])
    top, weight, total, _ = sums
    output = total / _nonzero(weight)[..., None] if kv.wild is None else _clipped(2 * total) + spill
    lse = top + np.log(weight)
    return output.reshape(rows.size, output.shape[2])[:count], lse.reshape(rows.size)[:count]


def _tile_size(rows: int, dim: int) -> tuple[int, int]:
    """Queries a strip and keys a tile. One strip if dim is too large for products of which many make a tile."""
    width = min(STRIP, rows)
    keys = PRODUCT // (width * dim) // 8 * 8
    return (width, min(keys, KEY_BLOCK)) if keys >= STRIP else (rows, KEY_BLOCK)


def _aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """An empty array that begins with a cache line, which makes products 10 % faster; np.empty seldom gives one."""
    room = np.empty(math.prod(shape) * np.dtype(dtype).itemsize + 64, np.uint8)
    return np.ndarray(shape, dtype, room, -room.ctypes.data % 64)


def _aligned_copy(array: Array, dtype: Any) -> Array:
    copy = _aligned(array.shape, dtype)
    copy[:] = array
    return copy


def _start(p: _Problem, head: int, shape: tuple[int, ...], calm: bool) -> _Sums:
    """The sums (N, W) before any key.

    The greatest score is the sink or the lowest number, where -inf would give NaN differences; calm scores stand for 0.
    """
    sink = p.options["sinks"][head] if "sinks" in p.options else -np.inf
    top = np.full(shape, 0 if calm else np.maximum(sink, np.finfo(p.dtype).min), p.dtype)
    total, fresh = (_aligned((*shape, p.value.shape[3]), p.dtype) for _ in range(2))
    total[:] = 0
    return _Sums(top, np.exp(sink - top), total, fresh)


def _tiles(p: _Problem, batch: int, rows: Array, most: int) -> Iterator[tuple[slice, slice, bool]]:
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


def _alter(p: _Problem, tile: _Tile, scores: Array) -> None:
    """Cap, bias and hide the scores (N, keys, W) of a tile, in place."""
    batch, head, rows, keys, cut = tile
    if p.softcap:
        np.tanh(np.divide(scores, p.softcap, out=scores), out=scores)
        scores *= p.softcap
    if "bias" in p.options:
        bias = p.options["bias"][batch, head, rows, keys].swapaxes(1, 2).astype(p.dtype, order="C")
        scores += bias
        _hide(scores, bias != -np.inf)
    if "alibi_slopes" in p.options:
        distance = np.abs(rows[:, None] - np.arange(keys.start, keys.stop)[:, None]).astype(p.dtype)
        scores -= p.options["alibi_slopes"][head].astype(p.dtype) * distance
    if cut:
        np.fmin(scores, _band(p, rows, keys), out=scores)
    if "mask" in p.options:
        _hide(scores, p.options["mask"][batch, head, rows, keys].swapaxes(1, 2))
    if "key_segments" in p.options:
        queries = p.options["query_segments"][batch, rows]
        _hide(scores, p.options["key_segments"][batch, keys, None] == queries[:, None])


def _hide(scores: Array, visible: Array) -> None:
    """-inf where not visible. fmin also replaces NaN and, unlike a masked copy, has no branch for each element."""
    np.fmin(scores, _limit(visible, scores.dtype), out=scores)


def _limit(visible: Array, dtype: Any) -> Array:
    """inf where visible, else -inf."""
    return (visible.astype(dtype) - 0.5) * np.inf


def _band(p: _Problem, rows: Array, keys: slice) -> Array:
    """What ``limits`` says of each pair (N, keys, W): a view, for which a strip's filling counts as further queries."""
    (strips, width), size = rows.shape, p.limits.itemsize
    start = (int(rows[0, 0]) - keys.start + p.key.shape[2]) * size
    shape = strips, keys.stop - keys.start, width
    return np.ndarray(shape, p.dtype, p.limits, start, (width * size, -size, size))


def _spill(wild: dict[int, Array], keys: slice, scores: Array, spill: Array) -> None:
    """Add the values that are not finite to the queries of ``spill`` (N, W, Dv) that see them."""
    for j in wild.keys() & set(range(keys.start, keys.stop)):
        spill[scores[:, j - keys.start] != -np.inf] += wild[j]


def _add(sums: _Sums, scores: Array, values: Array) -> None:
    """Add a tile of calm scores (N, keys, W), in bits, which are spent, and values (keys, Dv) to the sums."""
    _, weight, total, fresh = sums
    weights = np.exp2(scores, out=scores)
    weight += _over_keys(weights)
    total += np.matmul(weights.swapaxes(1, 2), values, out=fresh)


def _absorb(sums: _Sums, scores: Array, values: Array) -> None:
    """The same for any scores, by one step of the online softmax: relative to the greatest score so far."""
    _, weight, total, fresh = sums
    fade = _rise(sums.top, scores)
    weights = np.exp(scores, out=scores)
    weight *= fade
    weight += _over_keys(weights)
    total *= fade[..., None]
    total += np.matmul(weights.swapaxes(1, 2), values, out=fresh)


def _average(sums: _Sums, scores: Array, values: Array) -> None:
    """The same for wild heads: total holds averages, which stay within the values where sums might overflow."""
    _, weight, total, fresh = sums
    before = weight * _rise(sums.top, scores)
    weights = np.exp(scores, out=scores)
    weight[:] = before + _over_keys(weights)
    weights /= _nonzero(weight)[:, None]
    total *= (before / _nonzero(weight))[..., None]
    total += np.matmul(weights.swapaxes(1, 2), values, out=fresh)


def _over_keys(weights: Array) -> Array:
    """Sums (N, W) of the weights (N, keys, W); BLAS is several times as fast as np.sum."""
    return np.ones(weights.shape[1], weights.dtype) @ weights


def _rise(top: Array, scores: Array) -> Array:
    """Raise top (N, W) to the greatest score, make the scores relative to it; the factor (N, W) for earlier sums."""
    new = np.maximum(top, scores.max(axis=1))
    scores -= new[:, None]
    fade: Array = np.exp(top - new)
    top[:] = new
    return fade


def _nonzero(weight: Array) -> Array:
    return np.where(weight == 0, 1, weight).astype(weight.dtype)


def _clipped(average: Array) -> Array:
    """Only rounding leads an average past the largest number."""
    return np.clip(average, np.finfo(average.dtype).min, np.finfo(average.dtype).max)
