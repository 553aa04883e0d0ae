"""tinygrad for the suite, on the CPU: its device CPU, or PYTHON, its interpreter, where clang is missing.

The environment's DEV chooses between them too, or another way to compile (DEV=CPU:X86). Ordinary calls go through
``compile``: each fresh shape costs the compilation of its kernels anyway, and captured calls are many times faster.
"""

import os
import shutil
import threading
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from tinygrad import Device, Tensor, TinyJit, dtypes
from tinygrad.helpers import DEV, PARALLEL

Function = Callable[..., Any]

if DEV.device not in ("CPU", "PYTHON"):
    DEV.value = "CPU" if shutil.which(os.environ.get("CC", "clang")) else "PYTHON"
PARALLEL.value = 0  # a pool of processes that compile costs more than a few small kernels

TRANSFORMS = frozenset({"gradient", "double_gradient", "compile", "views"})
RUNS_COMPILED = True
FLUSHES_SUBNORMALS = Device.DEFAULT == "PYTHON"  # where Python is older than 3.12, float16 is float32 cut there


def version() -> str:
    """The version, and which of the devices computes."""
    return f"{metadata.version('tinygrad')} on {Device.DEFAULT}"


def devices() -> tuple[str, ...]:
    return ("cpu",)


def asarray(array: NDArray[Any], device: str) -> Any:
    """A fresh tensor; bfloat16 goes over as its bits. ValueError for a device other than "cpu"."""
    if device != "cpu":
        raise ValueError(f"tinygrad: wanted device 'cpu', came {device!r}")
    copy = np.array(array, order="C")
    if copy.dtype == ml_dtypes.bfloat16:
        return Tensor(copy.view(np.uint16)).bitcast(dtypes.bfloat16).contiguous().realize()
    return Tensor(copy).contiguous().realize()


def to_numpy(array: Any) -> NDArray[Any]:
    """A copy; bfloat16 comes over as its bits."""
    if array.dtype == dtypes.bfloat16:
        return np.array(array.clone().bitcast(dtypes.uint16).numpy()).view(ml_dtypes.bfloat16)
    return np.array(array.numpy())


def is_array(value: object) -> bool:
    return isinstance(value, Tensor)


def synchronize(value: Any) -> None:
    for array in value if isinstance(value, tuple | list) else (value,):
        if isinstance(array, tuple | list):
            synchronize(array)
        elif is_array(array):
            array.realize()
    Device[Device.DEFAULT].synchronize()


def gradient(
    function: Function, inputs: Sequence[Any], cotangent: Any, constants: Sequence[Any] = ()
) -> tuple[Any, tuple[Any, ...]]:
    """The output and the vector-Jacobian product per input."""
    output = function(*inputs, *constants)
    return output, tuple(output.gradient(*inputs, gradient=cotangent))


def double_gradient(
    function: Function,
    inputs: Sequence[Any],
    cotangent: Any,
    directions: Sequence[Any],
    constants: Sequence[Any] = (),
) -> tuple[Any, ...]:
    """The gradient, per input, of Σ ⟨gradient, direction⟩."""
    first = gradient(function, inputs, cotangent, constants)[1]
    total = sum((g * d).sum() for g, d in zip(first, directions, strict=True))
    return tuple(total.gradient(*inputs))


def compile(function: Function) -> Function:
    """A TinyJit for each shape and dtype, for one has only one; called once before what is captured is replayed.

    It takes whole buffers, no views. A replay writes where the one before has written: what comes is copied, and
    threads take turns.
    """
    captured: dict[Any, Function] = {}
    turn = threading.Lock()

    def call(*arrays: Any) -> Any:
        with turn:
            buffers = [array.clone().realize() for array in arrays]
            kind = tuple((array.shape, array.dtype) for array in buffers)
            if kind not in captured:
                captured[kind] = TinyJit(function)
                captured[kind](*buffers)
            returned = captured[kind](*buffers)
            return tuple(map(_copied, returned)) if isinstance(returned, tuple) else _copied(returned)

    return call


def _copied(array: Any) -> Any:
    return array.clone().realize() if is_array(array) else array


def views(array: NDArray[Any], device: str) -> dict[str, Any]:
    """Fresh tensors equal to ``array`` in other layouts; those that its rank does not allow are left out.

    NaN lies between the elements of the strided ones: whoever reads past a stride finds it in the result.
    """
    poison = np.nan if "float" in array.dtype.name else 1
    found = {}
    if array.ndim:
        *outer, width = array.shape
        wide = np.full((*outer, 2 * width), poison, array.dtype)
        wide[..., 1::2] = array
        found["strided"] = asarray(wide, device)[..., 1::2]
    if array.ndim >= 2:
        found["transposed"] = asarray(array.swapaxes(-1, -2), device).transpose(-1, -2)
    if array.ndim >= 3:
        found["heads last"] = asarray(array.swapaxes(-2, -3), device).transpose(-2, -3)
    return found
