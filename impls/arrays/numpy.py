"""NumPy for the suite: nothing to compile, no gradients, one device; many memory layouts."""

import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

TRANSFORMS = frozenset({"views", "threads"})
RUNS_COMPILED = False
FLUSHES_SUBNORMALS = False


def version() -> str:
    return np.__version__


def devices() -> tuple[str, ...]:
    return ("cpu",)


def asarray(array: NDArray[Any], device: str) -> NDArray[Any]:
    """A fresh C-contiguous copy; ValueError for a device other than "cpu"."""
    if device != "cpu":
        raise ValueError(f"numpy: wanted device 'cpu', came {device!r}")
    return np.array(array, order="C")


def to_numpy(array: NDArray[Any]) -> NDArray[Any]:
    """A copy, so that a later write to ``array`` cannot reach it."""
    return np.array(array)


def is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def synchronize(value: object) -> None:
    """Nothing to wait for."""


def threads(count: int) -> AbstractContextManager[object]:
    """Inside, matrix products are spread over so many threads at most."""
    limits: AbstractContextManager[object] = threadpool_limits(count)
    return limits


def views(array: NDArray[Any], device: str) -> dict[str, NDArray[Any]]:
    """Fresh arrays equal to ``array`` in other layouts; those that its rank or values do not allow are left out.

    NaN lies between the elements of the strided ones: whoever reads past a stride finds it in the result.
    """
    plain = asarray(array, device)
    found = {"readonly": plain.copy()}
    found["readonly"].flags.writeable = False
    if array.ndim:
        found["strided"] = _poisoned(array, 2 * array.shape[-1])[..., 1::2]
        found["padded"] = _poisoned(array, array.shape[-1] + 3)[..., : array.shape[-1]]
        found["reversed"] = np.flip(np.flip(plain).copy())
        found["strided"][...] = found["padded"][...] = array
    if array.ndim >= 2:
        found["fortran"] = np.array(array, order="F")
        found["transposed"] = plain.swapaxes(-1, -2).copy().swapaxes(-1, -2)
    if array.ndim >= 3:
        found["heads last"] = plain.swapaxes(-2, -3).copy().swapaxes(-2, -3)
    for axis in range(array.ndim):
        if array.shape[axis] > 1 and np.array_equal(array, spread := _spread(array, axis), equal_nan=_is_float(array)):
            found["expanded"] = spread
    return found


def _is_float(array: NDArray[Any]) -> bool:
    return "float" in array.dtype.name


def _poisoned(array: NDArray[Any], width: int) -> NDArray[Any]:
    """A buffer like ``array`` but ``width`` wide, full of what must not be read."""
    return np.full((*array.shape[:-1], width), np.nan if _is_float(array) else 1, array.dtype)


def _spread(array: NDArray[Any], axis: int) -> NDArray[Any]:
    """The first slice along ``axis``, repeated by a stride of 0."""
    return np.broadcast_to(np.array(array.take([0], axis)), array.shape)


def peak_memory(function: Callable[..., Any], arguments: Sequence[Any]) -> int:
    """The most bytes that a call has allocated at once, its result among them."""
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
