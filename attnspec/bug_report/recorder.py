"""A backend that keeps the calls an invariant makes of it, with what came of each."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from attnspec.specs.backend import Backend, Result
from attnspec.specs.functions import LAID_OUT
from attnspec.specs.invariants.common import INPUTS, PARTS
from attnspec.specs.problem import Array, Problem

NONE = Problem(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1)))
"""In the place of a problem, where another function than attention is called."""


@dataclass
class Call:
    """One call: attention itself, or a derivative of it, on a problem. Results are in the layout of the contract."""

    kind: str
    """"attention", the array library's function that is applied to it, or another function of the module."""
    problem: Problem
    compiled: bool = False
    mapped: tuple[Problem, ...] = ()
    """The problems, this one among them, that one call mapped over a new axis is about."""
    cotangent: Array | None = None
    directions: tuple[Array, ...] = ()
    option: str = ""
    """By which option it is derived, if not by query, key and value."""
    of: str = "output"
    """What is derived."""
    given: dict[int | str, Any] = field(default_factory=dict)
    """Another function's arguments by position and name, as it gets them: NumPy arrays and plain values."""
    layouts: dict[int, str] = field(default_factory=dict)
    """Which arguments, by position, are not contiguous, and what the binding's ``views`` calls their layout."""
    results: dict[str, Array] = field(default_factory=dict)
    """Empty if it raised."""


@dataclass(frozen=True, eq=False)
class Recorder(Backend):
    """A backend under record."""

    calls: list[Call] = field(default_factory=list, kw_only=True)
    compiled: list[bool] = field(default_factory=lambda: [False], kw_only=True)

    @classmethod
    def over(cls, backend: Backend) -> "Recorder":
        """The backend, recording."""
        recorder = cls(**{part.name: getattr(backend, part.name) for part in fields(Backend)})
        others = {name: recorder.noting(name, function) for name, function in backend.functions.items()}
        return replace(recorder, functions=others, memo={})

    def noting(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Another function of the module, its calls noted; not while a compiler looks at it, which sees no numbers."""

        @functools.wraps(function)
        def noted(*arguments: Any, **keywords: Any) -> Any:
            slots: dict[int | str, Any] = dict(enumerate(arguments))
            slots.update(keywords.items())
            try:
                given = {s: self.arrays.to_numpy(v) if self.arrays.is_array(v) else v for s, v in slots.items()}
            except Exception:
                return function(*arguments, **keywords)
            call = Call(name, NONE, given=given)
            self.calls.append(call)
            returned = function(*arguments, **keywords)
            if self.arrays.is_array(returned):
                call.results = {"output": self.as_wanted(name, self.arrays.to_numpy(returned))}
            return returned

        return noted

    def as_wanted(self, name: str, array: Array) -> Array:
        """Another function's result in the layout of the contract; its own inverse."""
        return self.laid_out(array) if name in LAID_OUT and array.ndim == 4 else array

    def _noted(self, call: Call, run: Callable[[], Any], read: Callable[[Any], dict[str, Array]]) -> Any:
        self.calls.append(call)
        returned = run()
        call.results = read(returned)
        return returned

    def solve(self, problem: Problem, compiled: bool | None = None) -> Result:
        self.compiled[0] = self.runs_compiled(problem) if compiled is None else compiled
        return super().solve(problem, compiled)

    def positional(self, names: tuple[str, ...], plain: Any, compiled: bool = False) -> Callable[..., Any]:
        self.compiled[0] = compiled
        return super().positional(names, plain, compiled)

    def call(self, function: Callable[..., Any], arguments: list[Any], problem: Problem) -> Result:
        layouts = {place: name for place, array in enumerate(arguments) if (name := self._layout(array))}
        call = Call("attention", problem, self.compiled[0], layouts=layouts)
        result: Result = self._noted(call, lambda: super(Recorder, self).call(function, arguments, problem), _parts)
        return result

    def _layout(self, argument: Any) -> str:
        """What the binding's ``views`` calls the argument's layout; nothing if it is a copy's, or not to be told."""
        strides = _strides(argument)
        if strides is None or "views" not in self.arrays.TRANSFORMS:
            return ""
        array = self.arrays.to_numpy(argument)
        if strides == _strides(self.arrays.asarray(array, self.device)):
            return ""
        views = self.arrays.views(array, self.device)
        return next((name for name, view in views.items() if _strides(view) == strides), "")

    def mapped(self, problems: tuple[Problem, ...]) -> list[Result]:
        calls = [Call("attention", problem, mapped=problems) for problem in problems]
        self.calls.extend(calls)
        results = super().mapped(problems)
        for call, result in zip(calls, results, strict=True):
            call.results = _parts(result)
        return results

    def differentiated(self, problem: Problem, cotangent: Array) -> tuple[Array, tuple[Array, Array, Array]]:
        def read(returned: Any) -> dict[str, Array]:
            return {"output": returned[0], **_by_input(returned[1])}

        call = Call("gradient", problem, cotangent=cotangent)
        both: tuple[Array, tuple[Array, Array, Array]] = self._noted(
            call, lambda: super(Recorder, self).differentiated(problem, cotangent), read
        )
        return both

    def second_gradients(self, problem: Problem, cotangent: Array, directions: list[Array]) -> tuple[Array, ...]:
        call = Call("double_gradient", problem, cotangent=cotangent, directions=tuple(directions))
        came: tuple[Array, ...] = self._noted(
            call, lambda: super(Recorder, self).second_gradients(problem, cotangent, directions), _by_input
        )
        return came

    def tangent(self, problem: Problem, directions: list[Array]) -> Array:
        call = Call("forward_gradient", problem, directions=tuple(directions))
        came: Array = self._noted(
            call, lambda: super(Recorder, self).tangent(problem, directions), lambda array: {"derivative": array}
        )
        return came

    def option_gradient(self, problem: Problem, name: str, cotangent: Array) -> Array:
        call = Call("gradient", problem, cotangent=cotangent, option=name)
        came: Array = self._noted(
            call, lambda: super(Recorder, self).option_gradient(problem, name, cotangent), lambda a: {f"d{name}": a}
        )
        return came

    def lse_gradients(self, problem: Problem, cotangent: Array) -> tuple[Array, ...]:
        call = Call("gradient", problem, cotangent=cotangent, of="lse")
        came: tuple[Array, ...] = self._noted(
            call, lambda: super(Recorder, self).lse_gradients(problem, cotangent), _by_input
        )
        return came


def _strides(array: Any) -> Any:
    """None where the library tells none."""
    return array.stride() if callable(getattr(array, "stride", None)) else getattr(array, "strides", None)


def _parts(result: Result) -> dict[str, Array]:
    return {name: array for name in PARTS if (array := getattr(result, name)) is not None}


def _by_input(gradients: tuple[Array, ...]) -> dict[str, Array]:
    return {f"d{name}": gradient for name, gradient in zip(INPUTS, gradients, strict=True)}
