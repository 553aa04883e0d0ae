"""Exact attention in blocks: online softmax over the keys, threads over heads and query blocks.

A thread holds QUERY_BLOCK x KEY_BLOCK scores, never more; beyond inputs and output the memory is O(n).
Source: Milakov & Gimelshein 2018 (arXiv:1805.02867), Dao et al. 2022 (arXiv:2205.14135).

Shapes: B batch, Hq query heads, Hkv key/value heads, L queries, S keys, Dk key and Dv value dimension. A tile is held
(keys, queries): its maximum over keys and its rescaling then run along contiguous memory.
"""

import contextlib
import ctypes
import functools
import itertools
import math
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Window = tuple[int | None, int | None]

ARRAYS = "numpy"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}

QUERY_BLOCK = 512
KEY_BLOCK = 256
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
    dtype = _widest(query, *(array for array in given.values() if _kind(array) == "float"))
    rare, longest = _heads(_lifted(key), _lifted(value), dtype)
    problem = _Problem(
        query=_lifted(query),
        key=_lifted(key),
        value=_lifted(value),
        options=options,
        dtype=dtype,
        scale=1 / math.sqrt(sizes["D"] or 1) if scale is None else float(scale),
        softcap=float(softcap or 0),
        reach=_reach(window, is_causal, sizes["L"] + sizes["S"]),
        rare=rare,
        longest=longest,
    )
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    lse = np.empty(query.shape[:-1], np.float32 if query.itemsize == 2 else query.dtype)
    _solve(problem, _lifted(output), _lifted(lse, 3))
    return (output, lse) if return_lse else output


@dataclass(frozen=True)
class _Problem:
    """The call, read: arrays as views with all axes, ``reach`` = keys to the (left, right) that a query may see."""

    query: Array
    key: Array
    value: Array
    options: dict[str, Array]
    dtype: Any
    scale: float
    softcap: float
    reach: tuple[int, int]
    rare: Array
    longest: Array

    @functools.cached_property
    def special(self) -> bool:
        """Whether a tile that isn't cut may have hidden places or a bias."""
        return not self.options.keys().isdisjoint(("mask", "bias", "key_segments"))


class _Tile(NamedTuple):
    """Queries and keys whose scores are held at once; ``cut`` if causality or window hides some of them."""

    batch: int
    head: int
    rows: slice
    keys: slice
    cut: bool


def _lifted(array: Array, axes: int = 4) -> Array:
    return array[(None,) * (axes - array.ndim)]


def _checked(
    query: Array, key: Array, value: Array, given: dict[str, Array], window: Window | None
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


def _heads(key: Array, value: Array, dtype: Any) -> tuple[Array, Array]:
    """Of each key/value head (B, Hkv): whether it is rare, and the longest query for which it is calm.

    Rare: values not all finite, or so large that their sum might not be. Calm: since |score| <= |query| |key|, the
    exponentials of all scores, their sums and products with values are normal numbers, whatever is subtracted first.
    """
    info, size = np.finfo(dtype), np.abs(value.astype(dtype, copy=False))
    size[size == 0] = 1
    most = size.max(axis=(2, 3), initial=1) * value.shape[2]
    least = size.min(axis=(2, 3), initial=1)
    room = np.minimum(np.log(info.max) - np.log(most), np.log(least) - np.log(info.tiny / info.eps)) - 1
    key = key.astype(dtype, copy=False)
    longest = np.sqrt(np.einsum("bhsd,bhsd->bhs", key, key).max(axis=2, initial=0))
    return ~(most < info.max / 2), room / longest


def _solve(problem: _Problem, output: Array, lse: Array) -> None:
    """Fill output (B, Hq, L, Dv) and lse (B, Hq, L); the last query blocks, long if causal, go first."""
    batch, heads, queries, dim = problem.query.shape
    starts = reversed(range(0, queries, QUERY_BLOCK))
    blocks = [(b, h, start) for start, b, h in itertools.product(starts, range(batch), range(heads))]

    @np.errstate(all="ignore")  # does not pass from one thread to another
    def work(block: tuple[int, int, int]) -> None:
        b, h, start = block
        rows = slice(start, start + QUERY_BLOCK)
        output[b, h, rows], lse[b, h, rows] = _solve_block(problem, *block)

    products = batch * heads * queries * problem.key.shape[2] * (dim + output.shape[-1])
    if products <= SMALL or len(blocks) == 1:
        for block in blocks:
            work(block)
    else:
        with _one_blas_thread() as threads, ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, blocks))


def _solve_block(p: _Problem, batch: int, head: int, start: int) -> tuple[Array, Array]:
    """Output (rows, Dv) and LSE (rows,) of one query block. A spare loop: outside NumPy only one thread can run."""
    where = batch, head // (p.query.shape[1] // p.key.shape[1])
    queries = p.query[batch, head, start : start + QUERY_BLOCK].T.astype(p.dtype, order="C") * p.scale  # (Dk, rows)
    key, value = p.key[where], p.value[where]
    calm, rare = _is_calm(p, p.longest[where], queries), p.rare[where]
    top, weight, total = _start(p, head, queries.shape[1], calm)
    spill, step = np.zeros_like(total), _average if rare else _add if calm else _absorb
    buffer = np.empty((KEY_BLOCK, len(top)), p.dtype)
    for tile in _tiles(p, batch, head, start, start + len(top)):
        _, _, rows, keys, cut = tile
        bias, visible = _conditions(p, tile) if cut or p.special else (None, None)
        if visible is not None and not visible.any():
            continue
        part = slice(rows.start - start, rows.stop - start)
        out = buffer[: keys.stop - keys.start, part]
        scores = np.matmul(key[keys].astype(p.dtype, copy=False), queries[:, part], out=out)
        _alter(p, tile, bias, visible, scores)
        values = value[keys].astype(p.dtype, copy=False)
        if rare:
            values = _tamed(values, visible, spill[:, part])
        step(top[part], weight[part], total[:, part], scores, values)
    output = _clipped(2 * total) + spill if rare else total / _nonzero(weight)
    return output.T, top + np.log(weight)


def _is_calm(p: _Problem, longest: float, queries: Array) -> bool:
    """Whether no query (Dk, rows) is longer than a calm head allows and nothing else adds to the scores."""
    plain = p.options.keys().isdisjoint(("bias", "alibi_slopes", "sinks"))
    return plain and bool(np.sqrt(np.einsum("dr,dr->r", queries, queries).max()) <= longest)


def _start(p: _Problem, head: int, rows: int, calm: bool) -> tuple[Array, Array, Array]:
    """Greatest score, sum of weights (rows,) and of weighted values (Dv, rows) before any key.

    The greatest is the sink or the lowest number, where -inf would give NaN differences; calm scores stand for 0.
    """
    sink = p.options["sinks"][head] if "sinks" in p.options else -np.inf
    top = np.full(rows, 0 if calm else np.maximum(sink, np.finfo(p.dtype).min), p.dtype)
    return top, np.exp(sink - top), np.zeros((p.value.shape[3], rows), p.dtype)


def _tiles(p: _Problem, batch: int, head: int, start: int, stop: int) -> Iterator[_Tile]:
    """The tiles of queries start to stop, without what causality, window and length hide as a whole."""
    left, right = p.reach
    length = p.options["key_lengths"][batch] if "key_lengths" in p.options else p.key.shape[2]
    last = min(p.key.shape[2], stop + right, int(length))
    for i in range(max(0, start - left), last, KEY_BLOCK):
        j = min(i + KEY_BLOCK, last)
        rows = slice(max(start, i - right), min(stop, j + left))
        if rows.start < rows.stop:
            cut = j - 1 > rows.start + right or i < rows.stop - 1 - left
            yield _Tile(batch, head, rows, slice(i, j), cut)


def _conditions(p: _Problem, tile: _Tile) -> tuple[Array | None, Array | None]:
    """The tile's bias and which query may attend to which key, (keys, rows) both; None for no bias, for all to all."""
    bias, parts = None, []
    batch, head, rows, keys, cut = tile
    if cut:
        i, j = np.arange(rows.start, rows.stop), np.arange(keys.start, keys.stop)[:, None]
        parts += [j >= i - p.reach[0], j <= i + p.reach[1]]
    if "mask" in p.options:
        parts.append(p.options["mask"][batch, head, rows, keys].T)
    if "key_segments" in p.options:
        parts.append(p.options["key_segments"][batch, keys, None] == p.options["query_segments"][batch, rows])
    if "bias" in p.options:
        bias = np.array(p.options["bias"][batch, head, rows, keys].T, p.dtype, order="C")
        parts.append(bias != -np.inf)
    return bias, functools.reduce(np.logical_and, parts) if parts else None


def _alter(p: _Problem, tile: _Tile, bias: Array | None, visible: Array | None, scores: Array) -> None:
    """Softcap, bias and ALiBi for the scores (keys, rows) of a tile, and -inf where it isn't visible."""
    if p.softcap:
        np.tanh(np.divide(scores, p.softcap, out=scores), out=scores)
        scores *= p.softcap
    if bias is not None:
        scores += bias
    if "alibi_slopes" in p.options:
        j, i = np.ogrid[tile.keys, tile.rows]
        scores -= p.options["alibi_slopes"][tile.head].astype(p.dtype) * np.abs(i - j).astype(p.dtype)
    if visible is not None:  # fmin also replaces NaN and, unlike a masked copy, has no branch for each element
        np.fmin(scores, (visible.astype(p.dtype) - 0.5) * np.inf, out=scores)


def _tamed(values: Array, visible: Array | None, spill: Array) -> Array:
    """Half of the values (keys, Dv); those not finite are added to the visible rows of ``spill`` (Dv, rows) instead."""
    finite = np.isfinite(values)
    for j in np.flatnonzero(~finite.all(axis=1)):
        seen = slice(None) if visible is None else visible[j]
        spill[:, seen] += np.where(finite[j], 0, values[j])[:, None]
    return np.where(finite, values / 2, 0)


def _add(top: Array, weight: Array, total: Array, scores: Array, values: Array) -> None:
    """Add a tile of calm scores (keys, rows), which are spent, and values (keys, Dv) to weight and total."""
    weights = np.exp(scores, out=scores)
    weight += weights.sum(axis=0)
    total += values.T @ weights


def _absorb(top: Array, weight: Array, total: Array, scores: Array, values: Array) -> None:
    """The same for any scores, by one step of the online softmax: relative to the greatest score so far."""
    fade = _rise(top, scores)
    weight *= fade
    total *= fade
    _add(top, weight, total, scores, values)


def _average(top: Array, weight: Array, total: Array, scores: Array, values: Array) -> None:
    """The same for rare heads: total holds averages, which stay within the values where sums might overflow."""
    before = weight * _rise(top, scores)
    weights = np.exp(scores, out=scores)
    weight[:] = before + weights.sum(axis=0)
    weights /= _nonzero(weight)
    total *= before / _nonzero(weight)
    total += values.T @ weights


def _rise(top: Array, scores: Array) -> Array:
    """Raise top (rows,) to the greatest score, make the scores relative to it; the factor for earlier sums (rows,)."""
    new = np.maximum(top, scores.max(axis=0))
    scores -= new
    fade: Array = np.exp(top - new)
    top[:] = new
    return fade


def _nonzero(weight: Array) -> Array:
    return np.where(weight == 0, 1, weight).astype(weight.dtype)


def _clipped(average: Array) -> Array:
    """Only rounding leads an average past the largest number."""
    return np.clip(average, np.finfo(average.dtype).min, np.finfo(average.dtype).max)


@functools.cache
def _blas() -> tuple[Callable[[], int], Callable[[int], object]] | None:
    """The functions that get and set the thread count of NumPy's own OpenBLAS; None if NumPy has another BLAS."""
    library = ctypes.CDLL(sys.modules["numpy.linalg._umath_linalg"].__file__)
    for prefix, suffix in itertools.product(("scipy_openblas", "openblas"), ("64_", "")):
        with contextlib.suppress(AttributeError):
            read, write = (getattr(library, f"{prefix}_{verb}_num_threads{suffix}") for verb in ("get", "set"))
            return read, write
    return None


_lock = threading.Lock()
_inside: list[int] = []
"""For each call now inside, the thread count that BLAS is given back when the last one leaves."""


@contextlib.contextmanager
def _one_blas_thread() -> Iterator[int]:
    """One BLAS thread while any call is inside; gives how many there were. 1, and nothing done, if BLAS can't be told."""
    blas = _blas()
    if blas is None:
        yield 1
        return
    read, write = blas
    with _lock:
        threads = _inside[0] if _inside else read()
        _inside.append(threads)
        write(1)
    try:
        yield threads
    finally:
        with _lock:
            _inside.pop()
            if not _inside:
                write(threads)
