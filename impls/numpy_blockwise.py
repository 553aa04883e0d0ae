"""Exact attention in blocks: online softmax over the keys, threads over heads and query blocks.

A thread holds the scores of a block of queries and a tile of keys; beyond inputs and output the memory is O(n).
Source: Milakov & Gimelshein 2018 (arXiv:1805.02867), Dao et al. 2022 (arXiv:2205.14135).

Shapes: B batch, Hq query heads, Hkv key/value heads, L queries, S keys, Dk key and Dv value dimension. The queries of a
block are cut into N strips of W, the last one filled up with its last query, and a tile is held (N, keys, W): its
maximum over keys and its rescaling run along contiguous memory, and np.matmul makes N products that fit in the cache.
"""

import functools
import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnspec.impls.blockwise.call import Window, reach
from attnspec.impls.blockwise.numpy_call import ARRAY_OPTIONS, checked, kind, lifted, widest
from attnspec.impls.blockwise.numpy_problem import Head, Problem, Sizes, aligned, aligned_copy, prepare
from attnspec.impls.blockwise.numpy_sums import Sums, absorb, add, average, clipped, nonzero, started
from attnspec.impls.blockwise.numpy_tiles import Tile, add_wild, alter, tile_size, tiles
from attnspec.impls.blockwise.threads import threads, workers

Array = NDArray[Any]

ARRAYS = "numpy"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}

SIZES = Sizes(queries=1024, keys=512, strip=64, small=1 << 24)


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
    sizes, options = checked(query, key, value, given, window)
    problem = Problem(
        query=lifted(query),
        key=lifted(key),
        value=lifted(value),
        options=options,
        dtype=widest(query, *(array for array in given.values() if kind(array) == "float")),
        scale=1 / math.sqrt(sizes["D"] or 1) if scale is None else float(scale),
        softcap=float(softcap or 0),
        reach=reach(window, is_causal, sizes["L"] + sizes["S"]),
        sizes=SIZES,
    )
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    lse = np.empty(query.shape[:-1], np.float32 if query.itemsize == 2 else query.dtype)
    _solve(problem, lifted(output), lifted(lse, 3))
    return (output, lse) if return_lse else output


def _solve(p: Problem, output: Array, lse: Array) -> None:
    """Fill output (B, Hq, L, Dv) and lse (B, Hq, L); the last query blocks, long if causal, go first."""
    batch, heads, queries, dim = p.query.shape
    kv_heads = list(itertools.product(range(batch), range(p.key.shape[1])))
    size = rows_a_block(p.sizes, batch * heads * queries)
    blocks = itertools.product(reversed(range(0, queries, size)), range(batch), range(heads))

    @np.errstate(all="ignore")  # not inherited by threads
    def work(block: tuple[int, int, int]) -> None:
        start, b, h = block
        rows = slice(start, min(start + size, queries))
        output[b, h, rows], lse[b, h, rows] = _solve_block(p, prepared[b, h * p.key.shape[1] // heads], b, h, rows)

    with workers(batch * heads * queries * p.key.shape[2] * (dim + output.shape[-1]) > p.sizes.small) as run:
        prepared = dict(zip(kv_heads, run(functools.partial(prepare, p), kv_heads), strict=True))
        list(run(work, blocks))


def rows_a_block(sizes: Sizes, rows: int) -> int:
    """Queries of a block, of so many in all heads: fewer of few, that each thread may have four."""
    return sizes.queries if rows >= 4 * threads() * sizes.queries else -(-sizes.queries // 2)


def _solve_block(p: Problem, kv: Head, batch: int, head: int, block: slice) -> tuple[Array, Array]:
    """Output (rows, Dv) and LSE (rows,) of one query block. A spare loop: outside NumPy only one thread can run."""
    count = block.stop - block.start
    width, most = tile_size(p.sizes, count, max(kv.key.shape[1], kv.value.shape[1], 1))
    rows = np.minimum(np.arange(block.start, block.stop + -count % width), block.stop - 1).reshape(-1, width)
    queries = aligned_copy(p.query[batch, head, rows].swapaxes(1, 2), p.dtype)  # (N, Dk, W)
    longest = abs(p.scale) * np.sqrt(np.einsum("ndw,ndw->nw", queries, queries).max())
    calm = longest <= kv.longest and not p.softcap and not p.has("bias", "alibi_slopes", "sinks")
    queries *= p.scale / math.log(2) if calm else p.scale
    step = add if calm else absorb if kv.wild is None else average
    sums = started(p, head, rows.shape, calm)
    spill = np.zeros_like(sums.total)
    buffer = aligned((len(rows), most, width), p.dtype)
    altered = p.softcap or p.has("mask", "bias", "alibi_slopes", "key_segments")
    for part, keys, cut in tiles(p, batch, rows, most):
        scores = np.matmul(kv.key[keys], queries[part], out=buffer[part, : keys.stop - keys.start])
        if calm:
            np.exp2(scores, out=scores)  # before hiding: that of -inf takes six times as long
        if cut or altered:
            alter(p, Tile(batch, head, rows[part], keys, cut), scores, 0.0 if calm else -np.inf)
        if kv.wild:
            add_wild(kv.wild, keys, scores, spill[part])
        step(Sums(*(array[part] for array in sums)), scores, kv.value[keys])
    top, weight, total, _ = sums
    output = total / nonzero(weight)[..., None] if kv.wild is None else clipped(2 * total) + spill
    lse = top + np.log(weight)
    return output.reshape(rows.size, output.shape[2])[:count], lse.reshape(rows.size)[:count]
