"""Calling the functions that a backend has beside attention, in its conventions, and holding them to their oracle."""

from collections.abc import Callable
from typing import Any

import numpy as np

from attnspec.specs.backend import Backend, Malformed
from attnspec.specs.catalogue import hold
from attnspec.specs.contract import DTYPES
from attnspec.specs.positions import Exact, distance_bias, encoded, rotated, slopes
from attnspec.specs.problem import Array

LAID_OUT = ("rotary_embedding",)
"""Functions whose inputs and outputs with four axes follow the convention ``layout``."""


def prepared(backend: Backend, name: str, *arguments: Any, **keywords: Any) -> tuple[Callable[..., Any], list[Any]]:
    """The function ``name`` of native arrays alone, the same object for equal calls, and those arrays.

    Arguments that are NumPy arrays are handed over as native ones, all others as they are.
    """
    slots: dict[Any, Any] = {**dict(enumerate(arguments)), **keywords}
    given = {slot: value for slot, value in slots.items() if isinstance(value, np.ndarray)}
    plain = {slot: value for slot, value in slots.items() if slot not in given}
    key = ("function", name, tuple(given), tuple(plain.items()))
    if key not in backend.memo:

        def function(*natives: Any) -> Any:
            filled = {**plain, **dict(zip(given, natives, strict=True))}
            named = {slot: value for slot, value in filled.items() if isinstance(slot, str)}
            return backend.functions[name](*(filled[slot] for slot in range(len(arguments))), **named)

        compiles = given and backend.arrays.RUNS_COMPILED and backend.supports(frozenset({"compile"}))
        backend.memo[key] = backend.arrays.compile(function) if compiles else function
    natives = [backend.arrays.asarray(_laid_out(backend, name, array), backend.device) for array in given.values()]
    return backend.memo[key], natives


def _laid_out(backend: Backend, name: str, array: Array) -> Array:
    return backend.laid_out(array) if name in LAID_OUT and array.ndim == 4 else array


def apply(backend: Backend, name: str, *arguments: Any, **keywords: Any) -> Array:
    """What the function ``name`` gives for NumPy arrays and plain values, in NumPy.

    BackendError if it raises, or returns no array of floating-point numbers.
    """
    function, natives = prepared(backend, name, *arguments, **keywords)
    features = frozenset({name})
    with backend.guarded(features):
        returned = function(*natives)
        if backend.arrays.is_array(returned):
            backend.arrays.synchronize(returned)
    if not backend.arrays.is_array(returned):
        came = f"{type(returned).__module__}.{type(returned).__name__}"
        raise Malformed(f"{name}: wanted one {backend.declaration.arrays} array, came {came}", features)
    array = _laid_out(backend, name, backend.arrays.to_numpy(returned))
    if str(array.dtype) not in DTYPES:
        raise Malformed(f"{name}: wanted floating-point numbers, came {array.dtype}", features)
    return array


def like(backend: Backend, name: str, x: Array, **keywords: Any) -> Array:
    """``apply`` for a function whose result is like ``x``. Malformed if it is not."""
    return _checked(name, apply(backend, name, x, **keywords), str(x.dtype), x.shape)


def _checked(name: str, came: Array, dtype: str, shape: tuple[int, ...]) -> Array:
    if (str(came.dtype), came.shape) != (dtype, shape):
        raise Malformed(f"{name}: wanted {dtype}{shape}, came {came.dtype}{came.shape}", frozenset({name}))
    return came


def exactly(backend: Backend, name: str, x: Array, **keywords: Any) -> Exact:
    """What ``like`` must give for positional_encoding or rotary_embedding, and how far it may be off."""
    precision = backend.precision(str(x.dtype))
    if name == "positional_encoding":
        return encoded(x, precision, **keywords)
    return rotated(x, precision, backend.conventions["rotary_layout"], **keywords)


def hold_like(backend: Backend, name: str, x: Array, **keywords: Any) -> float:
    """positional_encoding or rotary_embedding of ``x`` against the oracle."""
    told = ", ".join(["x", *(f"{n}=…" if isinstance(v, np.ndarray) else f"{n}={v}" for n, v in keywords.items())])
    return hold(f"{name}({told})", like(backend, name, x, **keywords), *exactly(backend, name, x, **keywords))


def hold_slopes(backend: Backend, heads: int) -> float:
    """make_alibi_slopes(heads) against the oracle."""
    came = _checked("make_alibi_slopes", apply(backend, "make_alibi_slopes", heads), "float32", (heads,))
    return hold(f"make_alibi_slopes({heads})", came, *slopes(heads, backend.conventions["alibi_rule"]))


def hold_bias(backend: Backend, table: Array, queries: int, keys: int) -> float:
    """relative_bias(table, queries, keys) against the oracle: the same bits."""
    wanted, name = distance_bias(table, queries, keys), "relative_bias"
    came = _checked(name, apply(backend, name, table, queries, keys), str(table.dtype), wanted.shape)
    return hold(name, came, wanted, 0.0)
