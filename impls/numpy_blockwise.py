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
    rare, calm = _heads(_lifted(key), _lifted(value), dtype)
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
        calm=calm,
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
    calm: Array


class _Tile(NamedTuple):
    batch: int
    head: int
    rows: slice
    keys: slice


class _State(NamedTuple):
    """Of one query block: greatest score, sum of weights relative to it (rows,); weighted values (Dv, rows), finite
    ones and others."""

    top: Array
    weight: Array
    total: Array
    spill: Array


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
    """Output (rows, Dv) and LSE (rows,) of one query block."""
    queries = p.query[batch, head, start : start + QUERY_BLOCK].T.astype(p.dtype, order="C") * p.scale  # (Dk, rows)
    rows = queries.shape[1]
    rare, calm = _nature(p, batch, head, queries)
    state = _start(p, head, rows, calm)
    buffer = np.empty((KEY_BLOCK, rows), p.dtype)
    for tile in _tiles(p, batch, head, start, start + rows):
        bias = _bias(p, tile)
        visible = _visible(p, tile, bias)
        if visible is None or visible.any():
            part = slice(tile.rows.start - start, tile.rows.stop - start)
            ours = _State(*(array[..., part] for array in state))
            scores = _score(p, tile, queries[:, part], bias, visible, buffer)
            values = _values(p, tile, visible, ours.spill) if rare else _tile_of(p.value, p, tile)
            if calm:
                _add(ours, scores, values)
            else:
                _absorb(ours, scores, values, rare)
    output = _normalised(state, rare)
    return output.T, state.top + np.log(state.weight)


def _nature(p: _Problem, batch: int, head: int, queries: Array) -> tuple[bool, bool]:
    """Whether the head is rare, and whether it is calm for these queries (Dk, rows)."""
    where = batch, _kv_head(p, head)
    longest = np.sqrt(np.einsum("dr,dr->r", queries, queries).max())
    plain = p.options.keys().isdisjoint(("bias", "alibi_slopes", "sinks"))
    return bool(p.rare[where]), plain and bool(longest <= p.calm[where])


def _start(p: _Problem, head: int, rows: int, calm: bool) -> _State:
    """No key seen. The maximum is the sink or the lowest number, where -inf would give NaN differences; 0 if calm."""
    sink = p.options["sinks"][head] if "sinks" in p.options else -np.inf
    top = np.full(rows, 0 if calm else np.maximum(sink, np.finfo(p.dtype).min), p.dtype)
    total = np.zeros((p.value.shape[3], rows), p.dtype)
    return _State(top, np.exp(sink - top), total, np.zeros_like(total))


def _tiles(p: _Problem, batch: int, head: int, start: int, stop: int) -> Iterator[_Tile]:
    """The tiles of queries start to stop that causality, window and length leave visible, shorn of hidden rows."""
    left, right = p.reach
    length = p.options["key_lengths"][batch] if "key_lengths" in p.options else p.key.shape[2]
    last = min(p.key.shape[2], stop + right, int(length))
    for key in range(max(0, start - left), last, KEY_BLOCK):
        end = min(key + KEY_BLOCK, last)
        rows = slice(max(start, key - right), min(stop, end + left))
        if rows.start < rows.stop:
            yield _Tile(batch, head, rows, slice(key, end))


def _kv_head(p: _Problem, head: int) -> int:
    return head // (p.query.shape[1] // p.key.shape[1])


def _bias(p: _Problem, tile: _Tile) -> Array | None:
    if "bias" not in p.options:
        return None
    return np.array(p.options["bias"][tile].T, p.dtype, order="C")  # (keys, rows)


def _visible(p: _Problem, tile: _Tile, bias: Array | None) -> Array | None:
    """Which query may attend to which key, as (keys, rows); None if each to all."""
    left, right = p.reach
    rows, keys = tile.rows, tile.keys
    parts = []
    if keys.stop - 1 > rows.start + right:
        parts.append(np.arange(keys.start, keys.stop)[:, None] <= np.arange(rows.start, rows.stop) + right)
    if keys.start < rows.stop - 1 - left:
        parts.append(np.arange(keys.start, keys.stop)[:, None] >= np.arange(rows.start, rows.stop) - left)
    if "mask" in p.options:
        parts.append(p.options["mask"][tile].T)
    if bias is not None:
        parts.append(bias != -np.inf)
    if "key_segments" in p.options:
        query_ids, key_ids = p.options["query_segments"][tile.batch], p.options["key_segments"][tile.batch]
        parts.append(key_ids[tile.keys, None] == query_ids[tile.rows])
    return functools.reduce(np.logical_and, parts) if parts else None


def _score(p: _Problem, tile: _Tile, queries: Array, bias: Array | None, visible: Array | None, buffer: Array) -> Array:
    """The tile's scores (keys, rows), -inf where hidden, written into ``buffer``; ``queries`` (Dk, rows) are scaled."""
    key = _tile_of(p.key, p, tile)
    scores = np.matmul(key, queries, out=buffer[: len(key), : queries.shape[1]])
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
    return scores


def _tile_of(array: Array, p: _Problem, tile: _Tile) -> Array:
    """The tile's rows of key or value, copied only if of another dtype than that computed in."""
    head = tile.head // (p.query.shape[1] // p.key.shape[1])
    return array[tile.batch, head, tile.keys].astype(p.dtype, copy=False)


def _values(p: _Problem, tile: _Tile, visible: Array | None, spill: Array) -> Array:
    """The tile's values (keys, Dv), halved; what isn't finite goes to ``spill`` (Dv, rows) instead."""
    value = _tile_of(p.value, p, tile)
    finite = np.isfinite(value)
    for j in np.flatnonzero(~finite.all(axis=1)):
        seen = slice(None) if visible is None else visible[j]
        spill[:, seen] += np.where(finite[j], 0, value[j])[:, None]
    return np.where(finite, value / 2, 0)


def _add(state: _State, scores: Array, values: Array) -> None:
    """Add the exponentials of calm scores (keys, rows), which are spent, and what they give of values (keys, Dv)."""
    weights = np.exp(scores, out=scores)
    weight, total = state.weight, state.total
    weight += np.ones(len(weights), weights.dtype) @ weights
    total += values.T @ weights


def _absorb(state: _State, scores: Array, values: Array, rare: bool) -> None:
    """The same for any scores: one step of the online softmax, relative to the greatest score so far.

    ``rare``: total holds averages, which stay within the values where sums might overflow.
    """
    new = np.maximum(state.top, scores.max(axis=0))
    weights = np.exp(np.subtract(scores, new, out=scores), out=scores)
    fade = np.exp(state.top - new)
    before = state.weight * fade
    weight = before + np.ones(len(weights), weights.dtype) @ weights
    if rare:
        weights /= _nonzero(weight)
        fade = before / _nonzero(weight)
    total = state.total
    total *= fade
    total += values.T @ weights
    state.top[:], state.weight[:] = new, weight


def _nonzero(weight: Array) -> Array:
    return np.where(weight == 0, 1, weight).astype(weight.dtype)


def _normalised(state: _State, rare: bool) -> Array:
    """The output (Dv, rows), 0 in empty rows. Only rounding leads averages past the largest number: it is clipped."""
    if rare:
        limit = np.finfo(state.total.dtype).max
        return np.clip(2 * state.total, -limit, limit) + state.spill
    return state.total / _nonzero(state.weight)


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
