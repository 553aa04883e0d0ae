"""What numba_blockwise compiles into its loops: products by NumPy's own BLAS, hiding, powers of 2."""

import ctypes
import functools
import sys
from typing import Any

import numba
import numpy as np

ROWS, PLAIN, TURNED = 101, 111, 112
"""CBLAS's names of the order of arrays, of a factor as it is, and of a transposed one."""

compiled = functools.partial(numba.njit, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})


@compiled()
def hide(scores, i, j, left, right):  # type: ignore[no-untyped-def]
    """-inf for what queries from i on do not see of keys from j on, in scores (m, n); whether there is any."""
    m, n = scores.shape
    if j + m - 1 <= i + right and j >= i + n - 1 - left:
        return False
    for c in range(m):
        scores[c, : max(0, j + c - right - i)] = -np.inf
        scores[c, max(0, j + c + left + 1 - i) :] = -np.inf
    return True


@compiled()
def at(array):  # type: ignore[no-untyped-def]
    """The address of its first element."""
    return array.ctypes.data


@compiled()
def exp2_double(x):  # type: ignore[no-untyped-def]
    """2^x."""
    return np.exp2(x)


@compiled()
def exp2_single(x):  # type: ignore[no-untyped-def]
    """2^(whole + rest), from -127, of which it is 0, to 127: of the rest a polynomial, of the whole by its bits."""
    whole = np.rint(x)
    rest = x - whole
    p = np.float32(1.5403530e-4)
    p = p * rest + np.float32(1.3333558e-3)
    p = p * rest + np.float32(9.6181291e-3)
    p = p * rest + np.float32(5.5504109e-2)
    p = p * rest + np.float32(2.4022651e-1)
    p = p * rest + np.float32(6.9314718e-1)
    p = p * rest + np.float32(1)
    return np.int32(np.float32(p).view(np.int32) + (np.int32(whole) << np.int32(23))).view(np.float32)


def product(dtype: str) -> Any:
    """cblas_sgemm or cblas_dgemm of NumPy's OpenBLAS, for whole numbers of 64 bits."""
    library = ctypes.CDLL(sys.modules["numpy.linalg._umath_linalg"].__file__)
    kind, real = ("s", ctypes.c_float) if dtype == "float32" else ("d", ctypes.c_double)
    try:
        found = getattr(library, f"scipy_cblas_{kind}gemm64_")
    except AttributeError:
        raise ImportError("wanted a NumPy that brings OpenBLAS, as those of PyPI for Linux and Windows do") from None
    whole, name, at = ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p
    found.argtypes = [name] * 3 + [whole] * 3 + [real, at, whole, at, whole, real, at, whole]
    found.restype = None
    return found
