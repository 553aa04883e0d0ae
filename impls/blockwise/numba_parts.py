"""What numba_blockwise compiles into its loops: products by NumPy's own BLAS, hiding, powers of 2."""

import ctypes
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

from attnspec.impls.blockwise.threads import blas_library

Array = Any

ROWS, PLAIN, TURNED = 101, 111, 112
"""CBLAS's names of the order of arrays, of a factor as it is, and of a transposed one."""

F = TypeVar("F", bound=Callable[..., Any])


def compiled(*signature: Any) -> Callable[[F], F]:
    """Compile a function, for this signature or for each that comes; it keeps NaN and runs without Python's lock."""
    decorator: Callable[[F], F] = numba.njit(
        *signature, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"}
    )
    return decorator


@compiled()
def hide(scores: Array, i: int, j: int, left: int, right: int) -> bool:
    """-inf for what queries from i on do not see of keys from j on, in scores (m, n); whether there is any."""
    m, n = scores.shape
    if j + m - 1 <= i + right and j >= i + n - 1 - left:
        return False
    for c in range(m):
        scores[c, : max(0, j + c - right - i)] = -np.inf
        scores[c, max(0, j + c + left + 1 - i) :] = -np.inf
    return True


@compiled()
def at(array: Array) -> Any:
    """The address of its first element."""
    return array.ctypes.data


@compiled()
def exp2_single(x: Any) -> Any:
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
    kind, real = ("s", ctypes.c_float) if dtype == "float32" else ("d", ctypes.c_double)
    try:
        found = getattr(blas_library(), f"scipy_cblas_{kind}gemm64_")
    except AttributeError:
        raise ImportError("wanted a NumPy that brings OpenBLAS, as those of PyPI for Linux and Windows do") from None
    whole, name, address = ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p
    found.argtypes = [name] * 3 + [whole] * 3 + [real, address, whole, address, whole, real, address, whole]
    found.restype = None
    return found
