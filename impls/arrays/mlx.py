"""MLX for the suite, on the CPU: only there does it compute in float64.

An MLX array has no device of its own; where it is computed is a matter of the stream.
"""

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import mlx.core as mx
import numpy as np
from numpy.typing import NDArray

Function = Callable[..., Any]

mx.set_default_device(mx.cpu)

TRANSFORMS = frozenset({"gradient", "double_gradient", "forward_gradient", "compile", "vectorize", "views"})
RUNS_COMPILED = False
FLUSHES_SUBNORMALS = True  # its exponential of float32: exp(-95) is 0


def version() -> str:
    return str(mx.__version__)


def devices() -> tuple[str, ...]:
    return ("cpu",)


def asarray(array: NDArray[Any], device: str) -> Any:
    """A fresh array; the dtype is told, for MLX would cut float64 to float32. ValueError for a device but "cpu"."""
    if device != "cpu":
        raise ValueError(f"mlx: wanted device 'cpu', came {device!r}")
    return mx.array(np.array(array, order="C"), dtype=mx.float64 if array.dtype == np.float64 else None)


def to_numpy(array: Any) -> NDArray[Any]:
    """A copy; bfloat16 comes over as its bits."""
    if array.dtype == mx.bfloat16:
        return np.array(array.view(mx.uint16)).view(ml_dtypes.bfloat16)
    return np.array(array)


def is_array(value: object) -> bool:
    return isinstance(value, mx.array)


def synchronize(value: Any) -> None:
    mx.eval(value)


def gradient(
    function: Function, inputs: Sequence[Any], cotangent: Any, constants: Sequence[Any] = ()
) -> tuple[Any, tuple[Any, ...]]:
    """The output and the vector-Jacobian product per input."""
    (output,), gradients = mx.vjp(lambda *primals: function(*primals, *constants), list(inputs), [cotangent])
    return output, tuple(gradients)


def double_gradient(
    function: Function,
    inputs: Sequence[Any],
    cotangent: Any,
    directions: Sequence[Any],
    constants: Sequence[Any] = (),
) -> tuple[Any, ...]:
    """The gradient, per input, of Σ ⟨gradient, direction⟩."""

    def total(*primals: Any) -> Any:
        gradients = gradient(function, primals, cotangent, constants)[1]
        return sum((g * d).sum() for g, d in zip(gradients, directions, strict=True))

    return tuple(mx.grad(total, argnums=tuple(range(len(inputs))))(*inputs))


def forward_gradient(
    function: Function, inputs: Sequence[Any], directions: Sequence[Any], constants: Sequence[Any] = ()
) -> Any:
    """The derivative along the directions."""
    (derivative,) = mx.jvp(lambda *primals: function(*primals, *constants), list(inputs), list(directions))[1]
    return derivative


def compile(function: Function) -> Function:
    compiled: Function = mx.compile(function)
    return compiled


def vectorize(function: Function) -> Function:
    mapped: Function = mx.vmap(function)
    return mapped


def views(array: NDArray[Any], device: str) -> dict[str, Any]:
    """Fresh arrays equal to ``array`` in other layouts; those that its rank or values do not allow are left out.

    NaN lies between the elements of the strided ones: whoever reads past a stride finds it in the result.
    """
    found = {}
    if array.ndim:
        found["strided"] = asarray(_poisoned(array, 2, 0), device)[..., 1::2]
        found["padded"] = asarray(_poisoned(array, 1, 3), device)[..., : array.shape[-1]]
    if array.ndim >= 2:
        found["transposed"] = asarray(array.swapaxes(-1, -2), device).swapaxes(-1, -2)
    if array.ndim >= 3:
        found["heads last"] = asarray(array.swapaxes(-2, -3), device).swapaxes(-2, -3)
    mx.eval(*found.values())
    return found


def _poisoned(array: NDArray[Any], step: int, more: int) -> NDArray[Any]:
    """``array`` at every ``step``-th place of the last axis, the last of each step, and ``more`` places behind it."""
    poison = np.nan if "float" in array.dtype.name else 1
    width = step * array.shape[-1]
    full = np.full((*array.shape[:-1], width + more), poison, array.dtype)
    full[..., step - 1 : width : step] = array
    return full
