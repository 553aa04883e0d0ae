"""A call of numpy_blockwise, checked and read."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DTYPES = ("float64", "float32", "float16", "bfloat16")

ARRAY_OPTIONS = {
    "mask": ("BHLS", "boolean"),
    "bias": ("BHLS", "float"),
    "alibi_slopes": ("H", "float"),
    "sinks": ("H", "float"),
    "key_lengths": ("B", "integer"),
    "query_segments": ("BL", "integer"),
    "key_segments": ("BS", "integer"),
}
"""Axes and element kind; those with four axes broadcast."""


def lifted(array: Array, axes: int = 4) -> Array:
    """The array with all its axes."""
    return array[(None,) * (axes - array.ndim)]


def checked(
    query: Array, key: Array, value: Array, given: dict[str, Array], window: object
) -> tuple[dict[str, int], dict[str, Array]]:
    """Sizes by axis letter and the options broadcast to all their axes. ValueError: wanted, came, call."""
    inputs = {"query": query, "key": key, "value": value}
    call = ", ".join(f"{name} {array.shape} {array.dtype}" for name, array in (inputs | given).items())

    def require(good: bool, wanted: str, came: object) -> None:
        if not good:
            raise ValueError(f"attention({call}): wanted {wanted}, came {came}")

    ranks, dtypes = [a.ndim for a in inputs.values()], [a.dtype.name for a in inputs.values()]
    require(len(set(ranks)) == 1 and ranks[0] in (2, 3, 4), "query, key and value of one rank, 2, 3 or 4", ranks)
    require(len(set(dtypes)) == 1 and dtypes[0] in DTYPES, f"one dtype out of {', '.join(DTYPES)}", dtypes)
    (batch, heads, queries, dim), k, v = (lifted(array).shape for array in inputs.values())
    require(k == (batch, k[1], k[2], dim), f"key (…, S, {dim}) with the query's batch size", key.shape)
    require(v[:3] == k[:3], f"value {(*key.shape[:-1], 'Dv')} to match the key", value.shape)
    require(heads % k[1] == 0 if k[1] else heads == 0, "key heads that divide the query's", f"{k[1]} and {heads}")
    sizes = {"B": batch, "H": heads, "L": queries, "S": k[2], "D": dim}
    left_out = {4: "", 3: "B", 2: "BH"}[query.ndim]
    options = {}
    for name, array in given.items():
        axes, elements = ARRAY_OPTIONS[name]
        shape = tuple(sizes[axis] for axis in axes if axis not in left_out or axes == "H")
        require(kind(array) == elements, f"{name} of {elements} elements", array.dtype)
        require(fits(array.shape, shape, len(axes) == 4), f"{name} of shape {shape}", array.shape)
        options[name] = np.broadcast_to(array, tuple(sizes[axis] for axis in axes))
    require(("query_segments" in given) == ("key_segments" in given), "query_segments and key_segments together", "one")
    pair = isinstance(window, tuple | list) and len(window) == 2 and all(is_bound(side) for side in window)
    require(window is None or pair, "window (left, right) of whole numbers or None", repr(window))
    return sizes, options


def kind(array: Array) -> str:
    """What the elements are: "boolean", "integer", "float" or "other"."""
    if array.dtype.name == "bfloat16":
        return "float"
    return {"b": "boolean", "f": "float", "i": "integer", "u": "integer"}.get(array.dtype.kind, "other")


def widest(*arrays: Array) -> np.dtype[Any]:
    """float32, or float64 where an array has it. Pairwise: float16 and bfloat16 have no common dtype of their own."""
    return functools.reduce(np.promote_types, (array.dtype for array in arrays), np.dtype(np.float32))


def fits(came: tuple[int, ...], wanted: tuple[int, ...], broadcasts: bool) -> bool:
    """Whether a shape is the one wanted, or broadcasts to it."""
    if not broadcasts:
        return came == wanted
    pairs = zip(reversed(came), reversed(wanted), strict=False)
    return len(came) <= len(wanted) and all(size in (1, full) for size, full in pairs)


def is_bound(side: object) -> bool:
    """Whether it is a side of a window."""
    return side is None or isinstance(side, int | np.integer)
