"""Exact attention in blocks, compiled by Numba: online softmax over the keys, its loops between two calls of BLAS.

Source: Milakov & Gimelshein 2018 (arXiv:1805.02867), Dao et al. 2022 (arXiv:2205.14135).

Shapes: B batch, Hq query heads, Hkv key/value heads, L queries, S keys, Dk key and Dv value dimension. A thread takes
a block of queries of one head; a tile, the scores of a strip of them and some keys, stays in its cache.
"""

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnspec.impls.blockwise.call import Window, reach
from attnspec.impls.blockwise.numba import solvers
from attnspec.impls.blockwise.numpy_call import checked, lifted, widest
from attnspec.impls.blockwise.threads import workers

Array = NDArray[Any]

ARRAYS = "numpy"
PACKAGES = ("numba",)
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32", "masked_nonfinite": "propagates", "value_range": "sum"}

QUERIES = 384
"""Queries of a block."""

SMALL = 1 << 22
"""Multiplications up to which threads take longer to start than they save."""


def attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    window: Window | None = None,
    return_lse: bool = False,
) -> Array | tuple[Array, Array]:
    """softmax(scale query key^T) value; the options are those of the canonical signature.

    query (B, Hq, L, Dk), key (B, Hkv, S, Dk), value (B, Hkv, S, Dv) -> output (B, Hq, L, Dv) in their dtype; with
    ``return_lse`` also the natural log of the denominator (B, Hq, L), float32 for half inputs. Rank 3 leaves out B,
    rank 2 also H. Half precision is computed in float32. While a problem is solved, NumPy's BLAS has one thread, in
    the whole process; a call uses as many threads as it had before. ValueError if malformed.
    """
    given = {} if mask is None else {"mask": np.asarray(mask)}
    query, key, value = np.asarray(query), np.asarray(key), np.asarray(value)
    sizes, options = checked(query, key, value, given, window)
    dtype = widest(query)
    queries, keys, values = (np.ascontiguousarray(lifted(array), dtype) for array in (query, key, value))
    visible = options.get("mask", np.broadcast_to(np.bool(True), (*queries.shape[:3], sizes["S"])))
    left, right = reach(window, is_causal, sizes["L"] + sizes["S"])
    factor = 1 / math.sqrt(sizes["D"] or 1) if scale is None else float(scale)
    output = np.empty((*query.shape[:-1], value.shape[-1]), dtype)
    lse = np.empty(query.shape[:-1], dtype)
    outputs, lses = lifted(output), lifted(lse, 3)
    calm_length, solve = solvers(dtype.name)
    kv_heads = list(itertools.product(range(len(keys)), range(keys.shape[1])))
    blocks = itertools.product(reversed(range(0, sizes["L"], QUERIES)), range(len(queries)), range(sizes["H"]))

    def work(block: tuple[int, int, int]) -> None:
        start, b, h = block
        kv, rows = (b, h * keys.shape[1] // sizes["H"]), slice(start, start + QUERIES)
        arrays = queries[b, h, rows], keys[kv], values[kv], visible[b, h, rows], bool(options)
        solve(*arrays, left - start, right + start, factor, lengths[kv], outputs[b, h, rows], lses[b, h, rows])

    with workers(lse.size * sizes["S"] * (sizes["D"] + value.shape[-1]) > SMALL) as run:
        lengths = dict(zip(kv_heads, run(lambda kv: calm_length(keys[kv], values[kv]), kv_heads), strict=True))
        list(run(work, blocks))
    output = output.astype(query.dtype, copy=False)
    return (output, lse) if return_lse else output
