"""The compiled part of numba_blockwise: a block of queries of one head over all keys.

Shapes: L queries of the block, S keys, Dk key and Dv value dimension.
"""

import functools
import math
from typing import Any

import numba
import numpy as np

from attnspec.impls.blockwise.numba_parts import (
    PLAIN,
    ROWS,
    TURNED,
    at,
    compiled,
    exp2_single,
    hide,
    product,
)

Array = Any

STRIP, KEYS = 192, 80
"""Queries and keys of a tile. Of products up to a million multiplications OpenBLAS does not copy the factors first."""


@functools.cache
def solvers(dtype: str) -> tuple[Any, Any]:
    """``calm_length`` and ``solve`` for "float32" or "float64". ImportError if NumPy's BLAS is not OpenBLAS."""
    real = getattr(np, dtype)
    gemm = product(dtype)
    exp2, least = (exp2_single, real(-127)) if dtype == "float32" else (np.exp2, real(-1100))
    lowest, highest = np.finfo(real).min, np.finfo(real).max
    above, below = math.log(highest) - 1, math.log(np.finfo(real).tiny / np.finfo(real).eps) + 1

    kind = numba.from_dtype(np.dtype(dtype))
    given = numba.types.Array(kind, 2, "C", readonly=True)
    masks = numba.types.Array(numba.boolean, 2, "A", readonly=True)
    settings = numba.boolean, numba.int64, numba.int64, numba.float64, kind

    @compiled(kind(given, given))
    def calm_length(key: Array, value: Array) -> Any:
        """The longest scaled query whose scores with key (S, Dk) are calm: |score| <= |query| |key| keeps exp and its
        products with value (S, Dv) normal numbers. Below 0 if value is not finite."""
        most, fewest, longest = real(1), real(1), real(0)
        for j in range(len(key)):
            square = real(0)
            for d in range(key.shape[1]):
                square += key[j, d] * key[j, d]
            for d in range(value.shape[1]):
                size = abs(value[j, d])
                if not size <= highest:
                    return real(-1)
                most = max(most, size)
                fewest = min(fewest, size) if size > 0 else fewest
            if not square <= highest:
                return real(-1)
            longest = max(longest, square)
        room = min(above - np.log(most) - np.log(max(1, len(key))), np.log(fewest) - below)
        return real(room / np.sqrt(longest))

    @compiled()
    def rise(scores: Array, top: Array, weight: Array, total: Array) -> None:
        """Raise top (n,) to the greatest of scores (m, n), and lower what was summed before, relative to it."""
        new = top.copy()
        for c in range(len(scores)):
            for r in range(len(top)):
                new[r] = scores[c, r] if scores[c, r] > new[r] else new[r]
        for r in range(len(top)):
            if new[r] != top[r]:
                fade = np.exp(top[r] - new[r])
                top[r] = new[r]
                weight[r] *= fade
                total[r] *= fade

    @compiled()
    def powers(scores: Array, top: Array, unit: Any, weight: Array) -> None:
        """2^(unit (scores - top)) in place, 0 of -inf, added to weight (n,)."""
        for c in range(len(scores)):
            for r in range(len(top)):
                power = real(scores[c, r] - top[r]) * unit
                found = exp2(least if power < least else power)
                found = found if power == power else power
                scores[c, r] = found
                weight[r] += found

    @compiled()
    def calm_powers(scores: Array, weight: Array) -> None:
        """2^scores in place, added to weight (n,)."""
        for c in range(len(scores)):
            for r in range(len(weight)):
                found = exp2(scores[c, r])
                scores[c, r] = found
                weight[r] += found

    @compiled(numba.void(given, given, given, masks, *settings, kind[:, ::1], kind[::1]))
    def solve(
        query: Array,
        key: Array,
        value: Array,
        mask: Array,
        masked: bool,
        left: int,
        right: int,
        scale: float,
        length: Any,
        output: Array,
        lse: Array,
    ) -> None:
        """Fill output (L, Dv) and lse (L,) of queries (L, Dk); query i sees keys i - left to i + right, of these those
        of mask (L, S) if ``masked``; calm are scores of queries up to ``length`` long."""
        (queries, dim), width = query.shape, value.shape[1]
        line = max(1, width)  # CBLAS takes no rows of 0 bytes
        scores = np.empty(KEYS * STRIP, real)
        for i in range(0, queries, STRIP):
            n = min(STRIP, queries - i)
            turned = query[i : i + n].T.copy()
            turned *= real(scale)
            calm = (turned * turned).sum(axis=0).max() <= length * length and length >= 0
            if calm:
                turned *= real(1 / math.log(2))
            top, weight = np.full(n, real(0) if calm else lowest, real), np.zeros(n, real)
            total = np.zeros((n, width), real)
            end = min(len(key), i + n + right)
            for j in range(max(0, i - left), end, KEYS):
                m = min(KEYS, end - j)
                tile = scores[: m * n].reshape((m, n))
                gemm(ROWS, PLAIN, PLAIN, m, n, dim, 1, at(key[j:]), max(1, dim), at(turned), n, 0, at(tile), n)
                cut = hide(tile, i, j, left, right)
                if masked:
                    for c in range(m):
                        for r in range(n):
                            tile[c, r] = tile[c, r] if mask[i + r, j + c] else -np.inf
                if not calm:
                    rise(tile, top, weight, total)
                    powers(tile, top, real(1 / math.log(2)), weight)
                elif cut or masked:
                    powers(tile, top, real(1), weight)
                else:
                    calm_powers(tile, weight)
                gemm(ROWS, TURNED, PLAIN, n, width, m, 1, at(tile), n, at(value[j:]), line, 1, at(total), line)
            for r in range(n):
                output[i + r] = total[r] / (weight[r] if weight[r] != 0 else 1)
                lse[i + r] = top[r] + np.log(weight[r])

    return calm_length, solve
