"""Holding what came to the definition, or to another call within the bounds of both."""

from typing import Any

import numpy as np

from attnspec.specs.bound import UNIT_ROUNDOFF
from attnspec.specs.catalogue import Violation, hold
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.rounded import Rounded
from attnspec.specs.problem import Array

SMALLEST = {"float64": 1e-306, "float32": 1e-36}
"""What underflow of a few terms may cost: a hundred of the smallest normal numbers."""


def near(what: str, case: Case, came: Array, wanted: Rounded) -> float:
    """The largest error ÷ bound against the definition. Violation above 1, or for another shape or dtype."""
    same_type(what, case, came)
    return hold(what, came, wanted.value, wanted.error + SMALLEST[case.dtype])


def same(what: str, case: Case, came: Array, other: Array, wanted: Rounded, bound: Rounded | None = None) -> float:
    """The largest difference of two calls that mean one thing ÷ what both may be off."""
    same_type(what, case, came)
    errors = wanted.error + (wanted if bound is None else bound).error + SMALLEST[case.dtype]
    return hold(what, came, other, errors)


def same_type(what: str, case: Case, came: object) -> None:
    """Violation unless an array of the case's dtype came."""
    dtype = getattr(came, "dtype", type(came).__name__)
    if str(dtype) != case.dtype:
        raise Violation(f"{what}: wanted {case.dtype}, came {dtype}")


def equal(what: str, came: Any, wanted: Array) -> float:
    """0 if both are the same to the last bit. Violation otherwise."""
    if not isinstance(came, np.ndarray) or came.shape != wanted.shape:
        raise Violation(f"{what}: wanted shape {wanted.shape}, came {getattr(came, 'shape', type(came).__name__)}")
    if not np.array_equal(came, wanted, equal_nan=came.dtype.kind == "f"):
        index = tuple(int(i) for i in np.argwhere(came != wanted)[0])
        raise Violation(f"{what} at {list(index)}: wanted exactly {wanted[index]}, came {came[index]}")
    return 0.0


def differ(what: str, came: Array, other: Array, wanted: Rounded) -> float:
    """0 if two results differ by more than roundings can explain, somewhere in each batch entry. Violation if not."""
    beyond = np.abs(np.asarray(came, np.float64) - other) > 2 * wanted.error
    if not beyond.reshape(beyond.shape[0], -1).any(-1).all():
        raise Violation(f"{what}: wanted another result, came the same")
    return 0.0


def unit(case: Case) -> float:
    """The unit roundoff of the case's dtype."""
    return UNIT_ROUNDOFF[case.dtype]
