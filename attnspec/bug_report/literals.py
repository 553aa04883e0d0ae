"""Arrays as Python text, exact to the bit; each array once."""

import base64
import math
import textwrap
import zlib

import numpy as np

from attnspec.specs.problem import Array

LARGE = 400
"""Arrays with more elements are packed."""


class Literals:
    """Names for arrays, and the lines that make them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.named: dict[tuple[str, str, tuple[int, ...], bytes], str] = {}

    def name(self, array: Array, hint: str) -> str:
        """The name of the array: ``hint``, with a number if another array of the kind has that."""
        key = (hint, str(array.dtype), array.shape, array.tobytes())
        if key not in self.named:
            taken = set(self.named.values())
            names = (hint if number == 1 else f"{hint}_{number}" for number in range(1, len(taken) + 2))
            self.named[key] = next(name for name in names if name not in taken)
            self.lines.append(f"{self.named[key]} = {text(array)}")
        return self.named[key]


def text(array: Array) -> str:
    """An expression for the array, in NumPy."""
    made, dtype = str(array.dtype), f'"{array.dtype}"'
    if made == "bfloat16":
        return f"{text(np.asarray(array, np.float32))}.astype(ml_dtypes.bfloat16)"
    flat = array.reshape(-1)
    if array.size > 1 and len({element.tobytes() for element in flat}) == 1:
        return f"np.full({array.shape}, {number(flat[0])}, {dtype})"
    if array.size > LARGE:
        packed = base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()
        chunks = "\n".join(f'    "{part}"' for part in textwrap.wrap(packed, 110))
        unpacked = f"zlib.decompress(base64.b64decode(\n{chunks}\n))"
        return f"np.frombuffer({unpacked}, {dtype}).reshape({array.shape}).copy()"
    numbers = ", ".join(number(element) for element in flat)
    if len(numbers) > 90:
        lines = textwrap.fill(numbers, 110, initial_indent="        ", subsequent_indent="        ")
        return f"np.array(\n    [\n{lines},\n    ],\n    {dtype},\n).reshape({array.shape})"
    return f"np.array([{numbers}], {dtype}).reshape({array.shape})"


def number(element: np.generic) -> str:
    """A number that NumPy reads back as the same one."""
    if np.asarray(element).dtype.kind in "biu":
        return repr(element.item())
    value = float(element)
    if not math.isfinite(value):
        return "np.nan" if math.isnan(value) else f"{'-' * (value < 0)}np.inf"
    short = str(element)
    return short if np.asarray(float(short), element.dtype) == element else repr(value)


def upwards(tolerance: Array) -> Array:
    """The tolerances with five digits, none of them smaller: with fewer, what is just over one would pass."""
    with np.errstate(over="ignore"):
        short = [value if not value or not math.isfinite(value) else _up(value) for value in tolerance.reshape(-1)]
    return np.array(short, np.float64).reshape(tolerance.shape)


def _up(value: float) -> float:
    short = float(f"{value:.4e}")
    return short if short >= value else float(f"{value * 1.00005:.4e}")
