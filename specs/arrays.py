"""What an array library's binding offers to the suite.

A binding is a module (or any object) with these functions; the suite is handed one and never imports it.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

import numpy as np

Function = Callable[..., Any]


@runtime_checkable
class ArrayLibrary(Protocol):
    """To and from NumPy, devices, and the transformations the library knows."""

    TRANSFORMS: frozenset[str]
    """Which of the contract's TRANSFORMS the library has at all."""

    RUNS_COMPILED: bool
    """Whether ordinary calls go through ``compile`` (where tracing op by op costs far more than one compilation)."""

    FLUSHES_SUBNORMALS: bool
    """Whether arithmetic may turn subnormal numbers into 0."""

    def version(self) -> str:
        """The library's version."""

    def devices(self) -> tuple[str, ...]:
        """The devices present, such as ("cpu", "cuda"); the first is the default."""

    def asarray(self, array: np.ndarray, device: str) -> Any:
        """A fresh native array with the values and dtype of ``array``, sharing no memory with it."""

    def to_numpy(self, array: Any) -> np.ndarray:
        """The values as NumPy (bfloat16 as ml_dtypes.bfloat16)."""

    def is_array(self, value: object) -> bool:
        """Whether ``value`` is one of this library's arrays."""

    def synchronize(self, value: Any) -> None:
        """Wait until ``value`` is computed."""

    def gradient(
        self, function: Function, inputs: Sequence[Any], cotangent: Any, constants: Sequence[Any] = ()
    ) -> tuple[Any, tuple[Any, ...]]:
        """``function(*inputs, *constants)``, one array, and its vector-Jacobian product per input."""

    def double_gradient(
        self,
        function: Function,
        inputs: Sequence[Any],
        cotangent: Any,
        directions: Sequence[Any],
        constants: Sequence[Any] = (),
    ) -> tuple[Any, ...]:
        """The gradient, per input, of Σ ⟨g, direction⟩ over the inputs' gradients g."""

    def forward_gradient(
        self, function: Function, inputs: Sequence[Any], directions: Sequence[Any], constants: Sequence[Any] = ()
    ) -> Any:
        """The derivative of ``function(*inputs, *constants)``, one array, along the directions of the inputs."""

    def compile(self, function: Function) -> Function:
        """``function``, compiled; its positional arguments are native arrays."""

    def vectorize(self, function: Function) -> Function:
        """``function`` mapped over a new leading axis of every positional argument."""

    def views(self, array: np.ndarray, device: str) -> dict[str, Any]:
        """Native arrays equal to ``array`` in other memory layouts: {"transposed": …, "strided": …}."""

    def threads(self, count: int) -> AbstractContextManager[object]:
        """While inside, one call computes in at most so many threads."""
