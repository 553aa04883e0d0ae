"""What a script is to look at: the few forms that the violations of all invariants come down to."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnspec.bug_report.expectation import expected
from attnspec.bug_report.recorder import Call
from attnspec.specs.backend import Backend, BackendError, Malformed
from attnspec.specs.catalogue import Evidence, Violation
from attnspec.specs.compare import ratios
from attnspec.specs.contract import DTYPES
from attnspec.specs.invariants.common import INPUTS, same_bits
from attnspec.specs.malformed import Call as MalformedCall
from attnspec.specs.malformed import meant
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Array, Problem, lifted, numpy_dtype


@dataclass(frozen=True, eq=False)
class Gives:
    """A part of a call's result is this, within the tolerance; where it may as well be NaN, that is said."""

    call: Call
    part: str
    wanted: Array
    tolerance: Floats
    or_nan: bool = False


@dataclass(frozen=True, eq=False)
class Agree:
    """Two calls give the same, within the tolerance; the same bits if it is None."""

    call: Call
    other: Call
    part: str
    tolerance: Floats | None


@dataclass(frozen=True)
class HasDtype:
    """A part of a call's result has this dtype."""

    call: Call
    part: str
    wanted: str


@dataclass(frozen=True)
class HasShapes:
    """A call gives arrays of floating-point numbers of these shapes, one for each part of its result."""

    call: Call
    wanted: dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Works:
    """A call gives anything at all: it does not raise, crash or hang."""

    call: Call
    ends: bool = True
    """False if it is not known to come back."""


@dataclass(frozen=True, eq=False)
class Refuses:
    """A malformed call raises a clean error, or gives this, if it has a reading."""

    call: Call
    malformed: MalformedCall
    wanted: Array | None
    tolerance: Array | None


Form = Gives | Agree | HasDtype | HasShapes | Works | Refuses


def form_of(backend: Backend, calls: Sequence[Call], error: Violation | BackendError) -> Form | None:
    """What a script must look at to see what the calls came to; None if none of the forms shows it."""
    if isinstance(error, Malformed):
        return _shapes(calls[-1]) if calls and calls[-1].kind == "attention" else None
    if isinstance(error, BackendError):
        return Works(calls[-1]) if calls and not calls[-1].results else None
    if isinstance(error.call, MalformedCall):
        return _refuses(backend, error.call)
    done = [call for call in calls if call.results]
    if not any(call.problem.options.get("dropout_rate") for call in done):  # what is dropped is nobody's to say
        found: Iterator[Form] = itertools.chain(_off(backend, done), _seen(done, error.evidence), _dtypes(done))
        return next(itertools.chain(found, _fickle(done)), None)
    return next(_fickle(done), None)


def _shapes(call: Call) -> HasShapes:
    problem = call.problem
    rows = problem.query.shape[:-1]
    shapes = {"output": (*rows, problem.value.shape[-1]), "weights": (*rows, problem.key.shape[-2]), "lse": rows}
    asked = [name for name in shapes if name == "output" or problem.options.get(f"return_{name}")]
    return HasShapes(call, {name: shapes[name] for name in asked})


def _refuses(backend: Backend, malformed: MalformedCall) -> Refuses:
    malformed = _plainer(malformed)
    call = Call("attention", malformed.arguments, backend.runs_compiled(malformed.reading or malformed.arguments))
    if malformed.reading is None:
        return Refuses(call, malformed, None, None)
    return Refuses(call, malformed, *meant(backend, malformed, malformed.reading))


def _plainer(malformed: MalformedCall) -> MalformedCall:
    """The same call with numbers that are short to write: ones if they do not matter, else quarters."""
    if malformed.reading is None:
        return replace(malformed, arguments=_mapped(malformed.arguments, np.ones_like))
    arguments, reading = (
        _mapped(each, lambda a: np.rint(4 * a) / 4) for each in (malformed.arguments, malformed.reading)
    )
    return replace(malformed, arguments=arguments, reading=reading)


def _mapped(problem: Problem, function: Callable[[Array], Array]) -> Problem:
    """The problem with a function over its arrays of floating-point numbers."""

    def mapped(value: Any) -> Any:
        floats = isinstance(value, np.ndarray) and str(value.dtype) in DTYPES
        return np.asarray(function(value)).astype(value.dtype) if floats else value

    inputs = {name: mapped(getattr(problem, name)) for name in INPUTS}
    return problem.replace(**inputs, options={name: mapped(value) for name, value in problem.options.items()})


def _off(backend: Backend, calls: Sequence[Call]) -> Iterator[Gives]:
    """Parts that the oracle says are wrong."""
    for call in calls:
        for name, (wanted, bound) in expected(backend, call).items():
            came = call.results.get(name)
            if came is not None and came.shape == wanted.shape and (ratios(came, wanted, bound) > 1).any():
                yield Gives(call, name, wanted, bound)


def _seen(calls: Sequence[Call], evidence: Evidence | None) -> Iterator[Gives | Agree]:
    """The elements that broke the bound, found again in a call's result; another call's, or what was wanted."""
    if evidence is None or evidence.came.shape != evidence.wanted.shape:
        return
    broken = ratios(evidence.came, evidence.wanted, evidence.bound) > 1
    for call, name, array in _like(calls, evidence.came, broken):
        shape, tolerance = array.shape, np.where(broken, evidence.bound, np.inf)
        for other, same, _ in _like(calls, evidence.wanted, broken):
            if other is not call and same == name:
                yield Agree(call, other, name, tolerance.reshape(shape))
        infinite = any(np.isinf(np.asarray(a, np.float64)).any() for a in _arguments(call))
        yield Gives(call, name, np.asarray(evidence.wanted).reshape(shape), tolerance.reshape(shape), infinite)


def _like(calls: Sequence[Call], values: Array, where: Array) -> Iterator[tuple[Call, str, Array]]:
    """Results that have these values there, the latest first."""
    for call in reversed(calls):
        for name, array in call.results.items():
            full = array.reshape((1,) * (values.ndim - array.ndim) + array.shape)
            if full.shape != values.shape:
                continue
            if np.array_equal(_numbers(full[where]), _numbers(values[where]), equal_nan=True):
                yield call, name, array


def _numbers(array: Array) -> Floats:
    return np.asarray(array, np.float64)


def _arguments(call: Call) -> list[Array]:
    problem = call.problem
    bias = problem.options.get("bias")
    plus = [] if bias is None else [np.where(np.isneginf(np.asarray(bias, np.float64)), 0, bias)]
    return [problem.query, problem.key, problem.value, *plus]


def _dtypes(calls: Sequence[Call]) -> Iterator[HasDtype]:
    for call in calls:
        half = numpy_dtype(call.problem.dtype).itemsize < 4
        for name, array in call.results.items():
            wanted = "float32" if half and name == "lse" else call.problem.dtype
            if call.kind == "attention" and str(array.dtype) != wanted:
                yield HasDtype(call, name, wanted)


def _asked(call: Call) -> tuple[object, ...]:
    return call.kind, call.compiled, call.mapped, call.problem


def _fickle(calls: Sequence[Call]) -> Iterator[Agree]:
    """Equal calls that gave different bits."""
    for first, second in itertools.combinations(calls, 2):
        if _asked(first) == _asked(second):
            for name, array in first.results.items():
                if not same_bits(lifted(array), lifted(second.results[name])):
                    yield Agree(second, first, name, None)
