"""A backend as the suite sees it: a function that takes a problem and gives a result, conventions translated.

The one place that knows layouts, mask polarity, tuples and compiled calls; invariants see NumPy arrays in BHLD.
"""

import contextlib
import dataclasses
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from attnspec.specs.arrays import ArrayLibrary
from attnspec.specs.bound import Bound, Precision, bound_of
from attnspec.specs.contract import (
    ARRAY_OPTIONS,
    DTYPES,
    FUNCTIONS,
    OPTIONS,
    TRANSFORMS,
    Declaration,
    claimed_options,
    first_line,
)
from attnspec.specs.oracle import LN2, Solution, solve
from attnspec.specs.problem import Array, Problem, dtype_name

LOWEST = 0.1 * float(np.finfo(np.float32).min)
"""At or below this an LSE counts as "the lowest number"."""


class BackendError(Exception):
    """The backend raised, or returned something that is no result. Carries the features that were asked for."""

    def __init__(self, message: str, features: frozenset[str]) -> None:
        super().__init__(message)
        self.features = features


class Malformed(BackendError):
    """The backend returned arrays of the wrong sizes or of no numbers."""


@dataclass(frozen=True)
class Result:
    """What came back, in NumPy, layout BHLD at the problem's rank; weights and lse only if asked for."""

    output: Array
    weights: Array | None = None
    lse: Array | None = None


@dataclass(frozen=True, eq=False)
class Backend:
    """A function under its declaration, on one device of one array library.

    ``arrays`` is the library's binding. ``printed`` collects what the function writes to standard output.
    """

    name: str
    function: Callable[..., Any]
    declaration: Declaration
    arrays: ArrayLibrary
    device: str = "cpu"
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Those of FUNCTIONS that the module has beside ``attention``."""
    kernels: Callable[[Callable[[], Any]], Any] | None = None
    """Runs a call without arguments and gives the names of the kernels that ran in it."""
    printed: io.StringIO = field(default_factory=io.StringIO)
    floating: Mapping[str, Any] = field(default_factory=np.geterr)
    """NumPy's floating-point settings under which the function is called: the target's own, not the suite's."""
    memo: dict[Any, Any] = field(default_factory=dict)
    """What is worth keeping for the function's lifetime: prepared calls, the plan."""

    @cached_property
    def options(self) -> frozenset[str]:
        """The keywords it claims: those it has and does not declare lacking."""
        keywords = claimed_options(self.function)
        return frozenset(name for name in keywords if not self.declaration.missing(frozenset({name})))

    @property
    def conventions(self) -> Mapping[str, Any]:
        """Its conventions."""
        return self.declaration.conventions

    def assuming(self, **changes: Any) -> "Backend":
        """The same backend under a declaration with other fields."""
        return dataclasses.replace(self, declaration=dataclasses.replace(self.declaration, **changes))

    def claiming(self, features: frozenset[str]) -> "Backend":
        """The same backend without the lacks that rule ``features`` out."""
        return self.assuming(lacks=frozenset(lack for lack in self.declaration.lacks if not lack <= features))

    def supports(self, features: frozenset[str]) -> bool:
        """Whether it claims all ``features`` together; a transform counts only if the array library has it."""
        transforms = features & frozenset(TRANSFORMS)
        dtypes = features & frozenset(DTYPES)
        return (
            not self.declaration.missing(features | {self.device})
            and transforms <= self.arrays.TRANSFORMS
            and dtypes <= frozenset(self.declaration.dtypes)
            and (features & frozenset(OPTIONS)) <= self.options
            and (features & frozenset(FUNCTIONS)) <= self.functions.keys()
        )

    def solution(self, problem: Problem) -> Solution:
        """The exact answer under this backend's conventions."""
        return solve(problem, self.conventions)

    def bound(self, problem: Problem) -> Bound:
        """The error bound that this backend's conventions grant for ``problem``."""
        return bound_of(self.solution(problem), self.precision(problem.dtype), self.conventions["value_range"] == "sum")

    def precision(self, dtype: str) -> Precision:
        """The roundings that this backend's conventions grant for inputs of ``dtype``."""
        return Precision.of(dtype, self.conventions["intermediate_dtype"], self.arrays.FLUSHES_SUBNORMALS)

    def native(self, problem: Problem) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
        """query, key, value and the options as native arrays and plain values, in the backend's conventions."""
        inputs = [self.asarray(getattr(problem, name)) for name in ("query", "key", "value")]
        extras = {n: self._option(n, v) for n, v in problem.options.items() if n in ARRAY_OPTIONS}
        plain = {n: v for n, v in problem.options.items() if n not in ARRAY_OPTIONS}
        return inputs, extras, plain

    def asarray(self, array: Array) -> Any:
        """A native copy of a query, key, value or output in the backend's layout."""
        return self.arrays.asarray(self.laid_out(array), self.device)

    def laid_out(self, array: Array) -> Array:
        """The array in the backend's layout: heads behind the sequence if it is BLHD. Its own inverse."""
        if self.conventions["layout"] == "BLHD" and array.ndim > 2:
            return np.ascontiguousarray(np.swapaxes(array, -3, -2))
        return array

    def _option(self, name: str, value: Array) -> Any:
        if name == "mask" and self.conventions["mask"] == "block" and value.dtype == bool:
            value = ~value
        return self.arrays.asarray(value, self.device)

    def runs_compiled(self, problem: Problem) -> bool:
        """Whether an ordinary call for ``problem`` goes through the library's compiler."""
        return self.arrays.RUNS_COMPILED and self.supports(problem.features | {"compile"})

    def solve(self, problem: Problem, compiled: bool | None = None) -> Result:
        """Give ``problem`` to the backend. BackendError if it raises or returns no result."""
        inputs, extras, plain = self.native(problem)
        compiled = self.runs_compiled(problem) if compiled is None else compiled
        function = self.positional(tuple(extras), plain, compiled)
        return self.call(function, [*inputs, *extras.values()], problem)

    def positional(
        self, names: tuple[str, ...], plain: Mapping[str, Any], compiled: bool = False
    ) -> Callable[..., Any]:
        """The function of native arrays alone (query, key, value, then ``names``); the same object for equal calls."""
        key = ("call", names, tuple(sorted(plain.items())), compiled)
        if key not in self.memo:

            def function(query: Any, key: Any, value: Any, *extras: Any) -> Any:
                return self.function(query, key, value, **dict(zip(names, extras, strict=True)), **plain)

            self.memo[key] = self.arrays.compile(function) if compiled else function
        prepared: Callable[..., Any] = self.memo[key]
        return prepared

    def call(self, function: Callable[..., Any], arguments: list[Any], problem: Problem) -> Result:
        """``function(*arguments)``, its result checked and brought to NumPy."""
        with self.guarded(problem.features):
            returned = function(*arguments)
            self.arrays.synchronize(returned)
        return self.read(returned, problem)

    def mapped(self, problems: tuple[Problem, ...]) -> list[Result]:
        """All problems, alike but for their numbers, in one call mapped over a new axis; one result for each."""
        natives = [self.native(problem) for problem in problems]
        (_, extras, plain), first = natives[0], problems[0]
        columns = zip(*([*inputs, *more.values()] for inputs, more, _ in natives), strict=True)
        stacked = [np.stack([self.arrays.to_numpy(item) for item in column]) for column in columns]
        function = self.positional(tuple(extras), plain)
        with self.guarded(first.features | {"vectorize"}):
            returned = self.arrays.vectorize(function)(*(self.arrays.asarray(a, self.device) for a in stacked))
            self.arrays.synchronize(returned)
        parts = returned if isinstance(returned, tuple) else (returned,)
        arrays = [self.arrays.to_numpy(part) for part in parts]
        return [self._one_of(problem, [array[i] for array in arrays]) for i, problem in enumerate(problems)]

    def _one_of(self, problem: Problem, arrays: list[Array]) -> Result:
        native = [self.arrays.asarray(array, self.device) for array in arrays]
        return self.read(tuple(native) if len(native) > 1 else native[0], problem)

    @contextlib.contextmanager
    def guarded(self, features: frozenset[str]) -> Any:
        """Collect prints; whatever the function named in ``features``, or attention, raises is a BackendError."""
        try:
            with contextlib.redirect_stdout(self.printed), np.errstate(**self.floating):
                yield
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            reason = f"{type(error).__name__}: {first_line(error)}"
            name = next(iter(features & frozenset(FUNCTIONS)), "attention")
            raise BackendError(f"{name} raised {reason:.300}", features) from error

    def read(self, returned: Any, problem: Problem) -> Result:
        """The result in NumPy. BackendError if it is not what the options ask for."""
        asked = [name for name in ("weights", "lse") if problem.options.get(f"return_{name}")]
        parts = list(returned) if isinstance(returned, tuple) else [returned]
        wanted = f"a tuple (output, {', '.join(asked)})" if asked else "one array, the output"
        if isinstance(returned, tuple) != bool(asked) or len(parts) != 1 + len(asked):
            came = f"a tuple of {len(parts)}" if isinstance(returned, tuple) else f"a {type(returned).__name__}"
            raise BackendError(f"attention: wanted {wanted}, came {came}", problem.features)
        for part in parts:
            if not self.arrays.is_array(part):
                library = self.declaration.arrays
                came = f"{type(part).__module__}.{type(part).__name__}"
                raise BackendError(f"attention: wanted {library} arrays, came {came}", problem.features)
        named = dict(zip(("output", *asked), map(self.arrays.to_numpy, parts), strict=True))
        named["output"] = self.laid_out(named["output"])
        self._check_sizes(named, problem)
        lse = named.get("lse")
        return Result(named["output"], named.get("weights"), None if lse is None else self._natural(lse))

    def _check_sizes(self, named: Mapping[str, Array], problem: Problem) -> None:
        """Malformed if a part of the result has not the shape that the contract says, or holds no numbers."""
        rows = problem.query.shape[:-1]
        wanted = {"output": (*rows, problem.value.shape[-1]), "weights": (*rows, problem.key.shape[-2]), "lse": rows}
        for name, array in named.items():
            if array.shape != wanted[name]:
                raise Malformed(f"{name}: wanted shape {wanted[name]}, came {array.shape}", problem.features)
            if dtype_name(array.dtype) not in DTYPES:
                raise Malformed(f"{name}: wanted floating-point numbers, came {array.dtype}", problem.features)

    def _natural(self, lse: Array) -> Array:
        """The LSE in base e, with a "lowest" empty row as −inf."""
        if self.conventions["empty_row_lse"] == "lowest":
            lse = np.where(np.asarray(lse, np.float64) <= LOWEST, np.asarray(-np.inf, lse.dtype), lse)
        return lse * np.asarray(LN2, lse.dtype) if self.conventions["lse_base"] == 2 else lse

    def gradients(self, problem: Problem, cotangent: Array) -> tuple[Array, Array, Array]:
        """(dquery, dkey, dvalue) of ⟨output, cotangent⟩ in layout BHLD; cotangent like the output."""
        return self.differentiated(problem, cotangent)[1]

    def differentiated(self, problem: Problem, cotangent: Array) -> tuple[Array, tuple[Array, Array, Array]]:
        """The output as it comes while gradients are recorded, and the gradients."""
        inputs, extras, plain = self.native(problem)
        arguments = (inputs, self.asarray(cotangent), tuple(extras.values()))
        return self.pulled_back(problem, self.output_of(tuple(extras), plain), *arguments)

    def pulled_back(
        self, problem: Problem, function: Callable[..., Any], inputs: list[Any], cotangent: Any, extras: tuple[Any, ...]
    ) -> tuple[Array, tuple[Array, Array, Array]]:
        """The same for native arguments."""
        with self.guarded(problem.features | {"gradient"}):
            output, gradients = self.arrays.gradient(function, inputs, cotangent, extras)
            self.arrays.synchronize(gradients)
            came, dquery, dkey, dvalue = (self.laid_out(self.arrays.to_numpy(a)) for a in (output, *gradients))
        return came, (dquery, dkey, dvalue)

    def second_gradients(self, problem: Problem, cotangent: Array, directions: list[Array]) -> tuple[Array, ...]:
        """The gradients of query, key and value of Σ ⟨gradient, direction⟩, layout BHLD."""
        inputs, extras, plain = self.native(problem)
        function, along = self.output_of(tuple(extras), plain), [self.asarray(direction) for direction in directions]
        with self.guarded(problem.features | {"double_gradient"}):
            back = self.asarray(cotangent)
            returned = self.arrays.double_gradient(function, inputs, back, along, tuple(extras.values()))
            return tuple(self.laid_out(self.arrays.to_numpy(array)) for array in returned)

    def tangent(self, problem: Problem, directions: list[Array]) -> Array:
        """The derivative of the output along the directions of query, key and value, layout BHLD."""
        inputs, extras, plain = self.native(problem)
        function, along = self.output_of(tuple(extras), plain), [self.asarray(direction) for direction in directions]
        with self.guarded(problem.features | {"forward_gradient"}):
            returned = self.arrays.forward_gradient(function, inputs, along, tuple(extras.values()))
            return self.laid_out(self.arrays.to_numpy(returned))

    def option_gradient(self, problem: Problem, name: str, cotangent: Array) -> Array:
        """The gradient of ⟨output, cotangent⟩ by the option ``name``, an array of floats."""
        inputs, extras, plain = self.native(problem)
        inner, others = self.output_of((*(n for n in extras if n != name), name), plain), dict(extras)
        option, key = others.pop(name), ("option", tuple(extras), tuple(sorted(plain.items())), name)

        def function(first: Any, *rest: Any) -> Any:
            return inner(*rest, first)

        function = self.memo.setdefault(key, function)
        with self.guarded(problem.features | {"gradient"}):
            constants = (*inputs, *others.values())
            _, (gradient,) = self.arrays.gradient(function, [option], self.asarray(cotangent), constants)
            return self.arrays.to_numpy(gradient)

    def lse_gradients(self, problem: Problem, cotangent: Array) -> tuple[Array, ...]:
        """(dquery, dkey, dvalue) of ⟨LSE, cotangent⟩ as the backend gives it, in its own base; layout BHLD."""
        inputs, extras, plain = self.native(problem)
        function = self.output_of(tuple(extras), plain, part=-1)
        with self.guarded(problem.features | {"gradient"}):
            back = self.arrays.asarray(cotangent, self.device)
            _, gradients = self.arrays.gradient(function, inputs, back, tuple(extras.values()))
            factor = LN2 if self.conventions["lse_base"] == 2 else 1.0
            return tuple(factor * self.laid_out(self.arrays.to_numpy(gradient)) for gradient in gradients)

    def output_of(self, names: tuple[str, ...], plain: Mapping[str, Any], part: int = 0) -> Callable[..., Any]:
        """Like ``positional``, but always giving one array: the output, or another ``part`` of the result."""
        key = ("part", part, names, tuple(sorted(plain.items())))
        if key not in self.memo:
            inner = self.positional(names, plain)

            def function(*arguments: Any) -> Any:
                returned = inner(*arguments)
                return returned[part] if isinstance(returned, tuple) else returned

            self.memo[key] = function
        prepared: Callable[..., Any] = self.memo[key]
        return prepared
