"""What the layers refuse: one line of ValueError each, "NAME: wanted …, came …"."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from types import NoneType
from typing import Any, get_args, get_origin

from array_api_compat import array_namespace, is_array_api_obj

from attnspec.impls.layers.parameters import Array, Shape, mixed


def want(good: bool, call: str, wanted: str, came: object) -> None:
    """ValueError that says in which call what was wanted, and what came."""
    if not good:
        raise ValueError(f"{call}: wanted {wanted}, came {came}")


def whole(value: Any, least: int = 0) -> bool:
    """Whether it is an integer, ``least`` or more."""
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= least


def within(value: Any, least: float, below: float) -> bool:
    """Whether it is a number, ``least`` or more, and below ``below``."""
    return not isinstance(value, bool) and isinstance(value, Real) and least <= float(value) < below


def holds(condition: Array) -> bool:
    """Whether all of ``condition`` is True; inside of jax.jit, where the numbers cannot be looked at, it counts so."""
    try:
        return bool(array_namespace(condition).all(condition))
    except TypeError:
        return True


def is_kind(x: Any, kind: str) -> bool:
    """Whether it is an array of that kind of the array API standard, such as "integral"."""
    return bool(is_array_api_obj(x) and array_namespace(x).isdtype(x.dtype, kind))


def described(x: Any) -> str:
    """The dtype and shape of an array, or what else it is."""
    return f"{x.dtype} {tuple(x.shape)}" if is_array_api_obj(x) else f"a {type(x).__name__}"


def want_ids(call: str, ids: Any, name: str = "ids") -> None:
    """ValueError unless ``ids`` is an array (B, n) of integers."""
    want(is_kind(ids, "integral") and ids.ndim == 2, call, f"{name} (B, n) of integers", described(ids))


def want_mask(call: str, mask: Any, x: Array, shape: Shape, name: str = "mask") -> None:
    """ValueError unless ``mask`` is None, or boolean, of the library of ``x``, and broadcasts to ``shape``.

    It has two axes or four: three would be taken for (heads, n, S) where (B, n, S) is meant.
    """
    if mask is None:
        return
    whole_of = f"a boolean {name} (n, S) or (B, heads, n, S) that broadcasts to {shape}"
    fits = is_kind(mask, "bool") and mask.ndim in (2, 4) and broadcasts(mask, shape)
    want(fits, call, whole_of, f"{described(mask)} (one of keys, (B, S), is given as mask[:, None, None, :])")
    want_together(call, {"x": x, name: mask})


def want_together(call: str, arrays: Mapping[str, Array]) -> None:
    """ValueError for several array libraries or devices, or for several dtypes of floating numbers."""
    for wrong in mixed(arrays):
        raise ValueError(f"{call}: {wrong}")


def broadcasts(x: Array, shape: Shape) -> bool:
    """Whether ``x`` broadcasts to ``shape``, and not beyond it."""
    return x.ndim <= len(shape) and all(n in (1, m) for n, m in zip(x.shape[::-1], shape[::-1], strict=False))


def want_fields(layer: Any, least: Mapping[str, int]) -> None:
    """ValueError for a field that is not of its kind; an integer is 1 or more, unless ``least`` names another least."""
    for field in dataclasses.fields(layer):
        value = getattr(layer, field.name)
        if wanted := unfit(field.type, value, least.get(field.name, 1)):
            raise ValueError(f"{type(layer).__name__}: wanted {field.name} to be {wanted}, came {value!r:.80}")


def unfit(kind: Any, value: object, least: int) -> str:
    """What is wanted of a field annotated with ``kind``; "" for a value that is so."""
    kinds = get_args(kind) if NoneType in get_args(kind) else (kind,)
    if value is None and NoneType in kinds:
        return ""
    if kinds[0] is int:
        return "" if whole(value, least) else f"an integer of {least} or more"
    if kinds[0] is float:
        return "" if within(value, 0, math.inf) else "a finite number of 0 or more"
    wanted = Callable if get_origin(kinds[0]) is Callable else kinds[0]
    return "" if isinstance(value, wanted) else f"a {wanted.__name__}"
