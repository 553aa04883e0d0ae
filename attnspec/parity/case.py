"""One comparison: what a package computes in float64, how far rounding may move it, and the same from our layers."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnspec.impls.models.minilm import native
from attnspec.specs.bound import UNIT_ROUNDOFF

Numbers = NDArray[Any]
Convert = Callable[[Numbers], Any]
"""From NumPy's float64, integers or bool to an array of the library and precision that are tried."""


@dataclass(frozen=True)
class Case:
    """What the package gives, layer by layer, in float64 of numbers that float32 has too."""

    expected: Sequence[Numbers]
    errors: Sequence[Numbers]
    """The bound of each, in units of roundoff: ``condition.rounding_errors``."""
    ours: Callable[[Convert], Sequence[Any]]

    def ratio(self, arrays: str, dtype: str) -> float:
        """The largest |ours − theirs| ÷ bound, bound being (u of ``dtype`` + u of float64)·errors.

        ValueError if ours gives another number of states, or other shapes.
        """
        came = [to_numpy(state, arrays) for state in self.ours(converter(arrays, dtype))]
        if [state.shape for state in came] != [state.shape for state in self.expected]:
            shapes = [state.shape for state in came]
            raise ValueError(f"parity: wanted shapes {[s.shape for s in self.expected]}, came {shapes}")
        unit = UNIT_ROUNDOFF[dtype] + UNIT_ROUNDOFF["float64"]
        return max(
            worst(np.abs(state - wanted), unit * error)
            for state, wanted, error in zip(came, self.expected, self.errors, strict=True)
        )


def worst(error: Numbers, bound: Numbers) -> float:
    """The largest error ÷ bound; infinite for NaN, and for any error where nothing is rounded."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(error == 0, 0.0, error / bound)
    return float(np.where(np.isnan(ratio), np.inf, ratio).max(initial=0.0))


def converter(arrays: str, dtype: str) -> Convert:
    """Arrays of the library; floating ones in ``dtype``."""

    def convert(array: Numbers) -> Any:
        return native(array.astype(dtype) if array.dtype.kind == "f" else array, arrays)

    return convert


def to_numpy(array: Any, arrays: str) -> Numbers:
    """float64, whatever it was."""
    plain = importlib.import_module(f"attnspec.impls.arrays.{arrays}").to_numpy(array)
    return np.asarray(plain, np.float64)


def converted(arrays: Mapping[str, Numbers], convert: Convert) -> dict[str, Any]:
    """Each of them converted."""
    return {name: convert(array) for name, array in arrays.items()}


def single(rng: np.random.Generator, shape: Sequence[int], std: float = 1.0) -> Numbers:
    """Gaussian numbers that float32 has, in float64."""
    return rng.normal(0, std, tuple(shape)).astype(np.float32).astype(np.float64)
