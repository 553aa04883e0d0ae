"""Threads whose matrix products keep to one BLAS thread each: more would fight for the same cores."""

import contextlib
import ctypes
import functools
import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any


@contextlib.contextmanager
def workers(large: bool) -> Iterator[Callable[..., Iterator[Any]]]:
    """``map``, over threads if it is large."""
    if large:
        with _one_blas_thread() as threads, ThreadPoolExecutor(threads) as pool:
            yield pool.map
    else:
        yield map


def threads() -> int:
    """How many there are for a large problem."""
    blas = _blas()
    return 1 if blas is None else (_inside[0] if _inside else blas[0]())


def blas_library() -> ctypes.CDLL:
    """The one that NumPy's own products come from."""
    return ctypes.CDLL(sys.modules["numpy.linalg._umath_linalg"].__file__)


@functools.cache
def _blas() -> tuple[Callable[[], int], Callable[[int], object]] | None:
    """The functions that get and set the thread count of NumPy's own OpenBLAS; None if NumPy has another BLAS."""
    library = blas_library()
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
    """One BLAS thread while any call is inside; gives how many there were, 1 if BLAS cannot be told."""
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
