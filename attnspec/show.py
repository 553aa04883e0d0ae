"""A problem as lines that a person takes in at once: sizes, options, and the numbers where they are few."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from attnspec.specs.problem import Array, Problem

FEW = 24
"""Arrays with more elements are abbreviated."""


def problem_lines(problem: Problem) -> Iterator[str]:
    """Sizes and dtype, then query, key and value, then each option that is set."""
    sizes = zip(("B", "Hq", "Hkv", "L", "S", "Dk", "Dv"), problem.shape, strict=True)
    yield f"{problem.dtype}, rank {problem.query.ndim}: " + ", ".join(f"{name} {size}" for name, size in sizes)
    for name in ("query", "key", "value"):
        yield f"{name} {array_text(getattr(problem, name))}"
    for name, value in problem.options.items():
        yield f"{name} {array_text(value) if isinstance(value, np.ndarray) else f'= {value!r}'}"


def array_text(array: Array) -> str:
    """The shape, and the elements if they are few, else the first ones and the range."""
    shape = f"({', '.join(map(str, array.shape))})"
    if array.size == 0:
        return f"{shape} without elements"
    if array.size <= FEW:
        return f"{shape} {nested(array)}"
    first = ", ".join(number(element) for element in array.reshape(-1)[:6])
    return f"{shape} {first}, … {_range(array)}"


def nested(array: Array) -> str:
    """The elements in brackets, without the brackets of leading axes of size 1."""
    while array.ndim > 1 and array.shape[0] == 1:
        array = array[0]
    if array.ndim == 0:
        return number(array[()])
    return "[" + ", ".join(nested(part) if array.ndim > 1 else number(part) for part in array) + "]"


def number(element: Any) -> str:
    """As few digits as tell the number apart at a glance."""
    if isinstance(element, np.bool_ | bool):
        return "True" if element else "False"
    return f"{float(element):.6g}"


def _range(array: Array) -> str:
    if array.dtype.kind == "b":
        return f"{int(array.sum())} of {array.size} True"
    values = np.asarray(array, np.float64)
    finite = values[np.isfinite(values)]
    text = f"from {number(finite.min())} to {number(finite.max())}" if finite.size else "none finite"
    return text if finite.size == values.size else f"{text}, {values.size - finite.size} not finite"
