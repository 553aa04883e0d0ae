"""Malformed calls: a well-formed problem with one argument made wrong, and what becomes of it.

The backend refuses the call, or gives what the oracle gives for the only reading that the arguments have. Where the
array library has views, every argument stands between bands of poison: reading past its end shows in the output,
writing past it in the bands.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.bound import bound_of
from attnspec.specs.catalogue import Violation, hold
from attnspec.specs.contract import DTYPES
from attnspec.specs.invariants.common import same_bits
from attnspec.specs.problem import Array, Problem, largest_number

UNCLEAN = (AssertionError, MemoryError, NameError, RecursionError, SystemError)
"""Exceptions that refuse nothing: ``python -O`` leaves asserts out, and the others are accidents on the way.

What is no Exception at all, such as SystemExit, does not either. Every other type does, frameworks' own included.
"""

BAND = 64
"""Elements of poison before and behind an array, at least; a longer array has bands of its own length."""


@dataclass(frozen=True, eq=False)
class Call:
    """``arguments`` are malformed: a Problem in form only. ``reading`` is well-formed and means the same."""

    what: str
    arguments: Problem
    reading: Problem | None = None
    meaning: str = ""
    """The reading in words."""
    shape: tuple[int, ...] | None = None
    """The output's, if it is not as the reading's."""
    coarsest: str | None = None
    """The dtype whose bound holds, if it is not the reading's."""
    apart: str = ""
    """The input that is put on the CPU, wherever the others are."""

    @property
    def wanted(self) -> str:
        """In words."""
        return f"with {self.what}: wanted an error{f' or {self.meaning}' if self.reading else ''}"


class Bands:
    """Arrays of the backend's library that stand in larger buffers, between bands of ``payload``."""

    def __init__(self, backend: Backend, payload: float) -> None:
        self.backend, self.payload = backend, payload
        self.buffers: list[tuple[Any, Array]] = []

    def around(self, array: Any) -> Any:
        """A view equal to ``array``."""
        plain = self.backend.arrays.to_numpy(array)
        band = np.full(max(plain.size, BAND), self._poison(plain.dtype), plain.dtype)
        whole = np.concatenate([band, plain.reshape(-1), band])
        buffer = self.backend.arrays.asarray(whole, self.backend.device)
        self.buffers.append((buffer, whole))
        return buffer[band.size : band.size + plain.size].reshape(plain.shape)

    def _poison(self, dtype: np.dtype[Any]) -> Any:
        """The payload, or the largest number that there is of it."""
        if dtype.kind == "b":
            return np.isnan(self.payload)
        if "int" in dtype.name:
            return np.iinfo(dtype).max
        return self.payload if np.isnan(self.payload) else largest_number(dtype.name)

    def hold(self, when: str = "") -> None:
        """Violation if anything was written, in the bands or between them."""
        for buffer, before in self.buffers:
            if not same_bits(self.backend.arrays.to_numpy(buffer), before):
                raise Violation(f"{when}wanted the memory around each argument unchanged, came back changed")


def refused(backend: Backend, problem: Problem, calls: Iterable[Call]) -> float:
    """The largest error ÷ bound of the calls that are not refused; Violation if one is neither refused nor right."""
    ratios = [0.0]
    for call in calls:
        try:
            ratios.append(_settled(backend, problem, call))
        except Violation as error:
            error.call = call
            raise
    return max(ratios)


def _settled(backend: Backend, problem: Problem, call: Call) -> float:
    inputs, extras, plain = backend.native(call.arguments)
    named = dict(zip(("query", "key", "value"), inputs, strict=True)) | extras
    bands = Bands(backend, np.nan)
    if backend.supports(frozenset({"views"})):
        named = {name: bands.around(array) for name, array in named.items()}
    if call.apart:
        named[call.apart] = backend.arrays.asarray(backend.laid_out(getattr(call.arguments, call.apart)), "cpu")
    function = backend.positional(tuple(extras), plain, backend.runs_compiled(problem))
    try:
        with backend.guarded(problem.features):
            returned = function(*named.values())
            backend.arrays.synchronize(returned)
    except BackendError as error:
        bands.hold(f"with {call.what}: ")
        return refusal(call.what, error)
    bands.hold(f"with {call.what}: ")
    return _right(backend, call, returned)


def refusal(what: str, error: BackendError) -> float:
    """0 if the call was refused cleanly; Violation if it broke off."""
    cause = error.__cause__
    if cause is None:  # it is not made again, for it killed a process
        raise error
    if isinstance(cause, UNCLEAN) or not isinstance(cause, Exception):
        raise Violation(f"with {what}: wanted an error such as ValueError, came {str(error).split(' ', 2)[-1]}")
    return 0.0


def _right(backend: Backend, call: Call, returned: Any) -> float:
    """The largest error ÷ bound under the call's reading; Violation if it has none."""
    if not backend.arrays.is_array(returned):
        raise Violation(f"{call.wanted}, came a {type(returned).__name__}")
    output = backend.laid_out(backend.arrays.to_numpy(returned))
    if call.reading is None:
        raise Violation(f"{call.wanted}, came an output of shape {output.shape}")
    if str(output.dtype) not in DTYPES:
        raise Violation(f"{call.wanted}, came {output.dtype} numbers")
    try:
        return hold("output", output, *meant(backend, call, call.reading))
    except Violation as error:
        raise Violation(f"{call.wanted}; {error}", error.evidence) from None


def meant(backend: Backend, call: Call, reading: Problem) -> tuple[Array, Array]:
    """The output that the call has under a reading, and its error bound."""
    solution = backend.solution(reading)
    precision = backend.precision(call.coarsest or reading.dtype)
    bound = bound_of(solution, precision, backend.conventions["value_range"] == "sum").output
    shape = call.shape or (*reading.query.shape[:-1], reading.value.shape[-1])
    return solution.output.reshape(shape), bound.reshape(shape)
