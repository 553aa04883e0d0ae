"""A recorded call as lines of Python: a function without arguments that gives the parts of the result in NumPy."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from attnspec.bug_report.literals import Literals
from attnspec.bug_report.recorder import Call
from attnspec.specs.backend import Backend
from attnspec.specs.contract import FUNCTIONS
from attnspec.specs.functions import LAID_OUT
from attnspec.specs.invariants.common import INPUTS
from attnspec.specs.oracle import LN2
from attnspec.specs.problem import Array, Problem

ORDINALS = ("first", "second", "third")

BY_INPUT = tuple(f"d{name}" for name in INPUTS)


@dataclass(frozen=True)
class Written:
    """A call under its name in the script."""

    name: str
    lines: list[str]
    needs: set[str]
    """Functions of the array library's binding."""
    call: Call

    def index(self, part: str) -> int:
        """Where a part of the result is among what the function gives."""
        return parts(self.call).index(part)


def parts(call: Call) -> list[str]:
    """The parts of the result in order."""
    if call.kind in FUNCTIONS:
        return ["output"]
    if call.kind == "forward_gradient":
        return ["derivative"]
    if call.kind != "attention":
        names = [f"d{call.option}"] if call.option else list(BY_INPUT)
        return ["output", *names] if call.kind == "gradient" and not call.option and call.of == "output" else names
    options = call.problem.options
    return ["output", *(name for name in ("weights", "lse") if options.get(f"return_{name}"))]


def arguments(backend: Backend, problem: Problem) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays and the plain options as the backend gets them, in its conventions."""
    inputs, extras, plain = backend.native(problem)
    named = dict(zip(INPUTS, inputs, strict=True)) | extras
    return {name: backend.arrays.to_numpy(array) for name, array in named.items()}, plain


def _stacked(backend: Backend, call: Call) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arguments of a mapped call: those of its problems along a new axis in front."""
    each = [arguments(backend, problem) for problem in call.mapped]
    return {name: np.stack([arrays[name] for arrays, _ in each]) for name in each[0][0]}, each[0][1]


def written(backend: Backend, call: Call, literals: Literals, number: int) -> Written:
    """The call's lines; its arrays go to the literals."""
    if call.kind in FUNCTIONS:
        return _other(backend, call, literals, number)
    arrays, plain = _stacked(backend, call) if call.mapped else arguments(backend, call.problem)
    names = {name: literals.name(array, name) for name, array in arrays.items()}
    ordinal = ORDINALS[number - 1] if number <= len(ORDINALS) else f"number_{number}"
    device = f'"{backend.device}"'
    given = {name: f"asarray({names[name]}, {device})" for name in arrays}
    given |= {n: f'views({names[n]}, {device})["{call.layouts[i]}"]' for i, n in enumerate(arrays) if i in call.layouts}
    extras = [name for name in arrays if name not in INPUTS]
    passed = ", ".join([*INPUTS, *(f"{n}={n}" for n in extras), *(f"{n}={v!r}" for n, v in plain.items())])
    signature = ", ".join(sorted(arrays, key=lambda name: name != call.option))  # by what it is derived comes first
    lines = [f"def {ordinal}():"]
    lines += _doc(call)
    lines += [f"    def function({signature}):"]
    result = f"attention({passed})"
    if call.kind != "attention" and ({"return_weights", "return_lse"} & plain.keys()):
        result += "[-1]" if call.of == "lse" else "[0]"
    lines += [f"        return {result}", ""]
    if call.compiled and not backend.arrays.RUNS_COMPILED:
        lines += [f"    function({', '.join(given.values())})  # what it makes once and keeps, no compiler need make"]
    body, needs = _applied(backend, call, given, literals, device)
    return Written(ordinal, [*lines, *body, "", ""], needs | ({"views"} if call.layouts else set()), call)


def _other(backend: Backend, call: Call, literals: Literals, number: int) -> Written:
    """A call of another function than attention."""
    name = ORDINALS[number - 1]
    given = []
    for slot, value in call.given.items():
        text = repr(value)
        if isinstance(value, np.ndarray):
            hint = slot if isinstance(slot, str) else "x" if slot == 0 else f"argument_{slot + 1}"
            text = f'asarray({literals.name(value, hint)}, "{backend.device}")'
        given.append(text if isinstance(slot, int) else f"{slot}={text}")
    lines = [f"def {name}():", '    """The call."""', f"    return [to_numpy({call.kind}({', '.join(given)}))]"]
    return Written(name, [*lines, "", ""], set(), call)


def _doc(call: Call) -> list[str]:
    what = {
        "attention": "The call",
        "gradient": "The gradients",
        "forward_gradient": "The derivative along a direction",
    }
    compiled = ", compiled" if call.compiled else ", mapped over a new axis" if call.mapped else ""
    return [f'    """{what.get(call.kind, "The gradients of the gradients along a direction")}{compiled}."""', ""]


def _applied(
    backend: Backend, call: Call, given: dict[str, str], literals: Literals, device: str
) -> tuple[list[str], set[str]]:
    """How the function is put to use, and what of the binding that takes."""
    if call.kind == "attention":
        way = "compile" if call.compiled else "vectorize" if call.mapped else ""
        function = f"{way}(function)" if way else "function"
        lines = [f"    returned = {function}(", *(f"        {array}," for array in given.values()), "    )"]
        lines += ["    parts = returned if isinstance(returned, tuple) else (returned,)"]
        one = f"[{next(i for i, p in enumerate(call.mapped) if p is call.problem)}]" if call.mapped else ""
        return [*lines, f"    return [to_numpy(part){one} for part in parts]"], {way} - {""}
    by = [call.option] if call.option else list(INPUTS)
    inputs, constants = ([given[n] for n in given if (n in by) == inside] for inside in (True, False))
    more = []
    if call.cotangent is not None:
        array = call.cotangent if call.of == "lse" else backend.laid_out(call.cotangent)
        more.append(f"asarray({literals.name(array, 'cotangent')}, {device})")
    if call.directions:
        along = zip(INPUTS, call.directions, strict=True)
        names = [literals.name(backend.laid_out(array), f"along_{name}") for name, array in along]
        more.append(f"[{', '.join(f'asarray({name}, {device})' for name in names)}]")
    arguments = ["function", f"[{', '.join(inputs)}]", *more, f"[{', '.join(constants)}]"]
    lines = [f"    returned = {call.kind}(", *(f"        {argument}," for argument in arguments), "    )"]
    return [*lines, f"    return [to_numpy(part) for part in {_flat(call)}]"], {call.kind}


def _flat(call: Call) -> str:
    """The parts, out of what the binding's function gives."""
    if call.kind == "forward_gradient":
        return "[returned]"
    if call.kind == "double_gradient":
        return "returned"
    return "[returned[0], *returned[1]]" if not call.option and call.of == "output" else "returned[1]"


def native(backend: Backend, part: str, array: Array, call: Call) -> Array:
    """A part of the result, or numbers to hold it to, as it comes from the backend itself."""
    if call.kind in FUNCTIONS:
        return backend.laid_out(array) if call.kind in LAID_OUT and array.ndim == 4 else array
    if part in ("output", "derivative", *BY_INPUT):
        array = backend.laid_out(array)
    base_2 = backend.conventions["lse_base"] == 2
    if base_2 and (part == "lse" or call.of == "lse"):
        return np.asarray(array, np.float64) / LN2
    return array
