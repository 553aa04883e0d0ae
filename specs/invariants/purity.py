"""Purity: a result depends on the arguments' values alone, and a call leaves nothing behind."""

from typing import Any

from attnspec.specs.backend import Backend, Result
from attnspec.specs.catalogue import Violation, invariant
from attnspec.specs.invariants.common import hold_result, hold_same, other_values, require
from attnspec.specs.problem import Array, Problem
from attnspec.specs.transforms import vectorized

FUNCTION = "a function in the mathematical sense: equal arguments, equal result"


@invariant(
    "purity.inputs_unchanged",
    formula="arguments after the call = arguments before it",
    source=FUNCTION,
    catches=("P5",),
)
def inputs_unchanged(backend: Backend, problem: Problem) -> float:
    """No argument is changed in place."""
    inputs, extras, plain = backend.native(problem)
    named = dict(zip(("query", "key", "value"), inputs, strict=True)) | extras
    before = {name: backend.arrays.to_numpy(array) for name, array in named.items()}
    function = backend.positional(tuple(extras), plain, backend.runs_compiled(problem))
    backend.call(function, [*inputs, *extras.values()], problem)
    for name, array in named.items():
        if not _same_bits(backend.arrays.to_numpy(array), before[name]):
            raise Violation(f"{name}: wanted it unchanged, came back changed")
    return 0.0


def _same_bits(first: Array, second: Array) -> bool:
    return first.shape == second.shape and first.dtype == second.dtype and first.tobytes() == second.tobytes()


def _hold_bits(what: str, came: Result, wanted: Result) -> None:
    for name in ("output", "weights", "lse"):
        first, second = getattr(came, name), getattr(wanted, name)
        if first is not None and not _same_bits(first, second):
            raise Violation(f"{name} {what}: wanted the same bits, came others")


@invariant(
    "purity.repeatable",
    formula="A(x) = A(x)",
    source=FUNCTION,
    catches=("I1", "I3", "I4", "I5"),
)
def repeatable(backend: Backend, problem: Problem) -> float:
    """The same call gives the same bits again."""
    arguments, function = _prepared(backend, problem)
    first = backend.call(function, arguments, problem)
    _hold_bits("of a second call", backend.call(function, arguments, problem), first)
    return 0.0


def _prepared(backend: Backend, problem: Problem) -> tuple[list[Any], Any]:
    inputs, extras, plain = backend.native(problem)
    function = backend.positional(tuple(extras), plain, backend.runs_compiled(problem))
    return [*inputs, *extras.values()], function


@invariant(
    "purity.history",
    formula="A(x), A(y), A(x): the third is the first",
    source=FUNCTION,
    catches=("E10", "J6", "P5", "P8"),
    costly=True,
)
def history(backend: Backend, problem: Problem) -> float:
    """A result does not depend on earlier calls with other numbers or options, and later ones leave it as it was."""
    arguments, function = _prepared(backend, problem)
    with backend.guarded(problem.features):
        returned = function(*arguments)
        backend.arrays.synchronize(returned)
    first = backend.read(returned, problem)
    ratios = [hold_result(backend, other, backend.solve(other)) for other in _others(problem)]
    _hold_bits("of the first call after others", backend.read(returned, problem), first)
    _hold_bits("of the same call after others", backend.call(function, arguments, problem), first)
    return max(ratios)


def _others(problem: Problem) -> list[Problem]:
    """The same shapes with other numbers, then with another scale, softcap and window as far as they are set."""
    changed = {name: other_values(problem, getattr(problem, name)) for name in ("query", "key", "value")}
    plain = {"scale": 0.75, "softcap": 3.0, "window": (0, 0)}
    options = {name: value for name, value in plain.items() if name in problem.options}
    return [problem.replace(**changed), *([problem.with_options(**options)] if options else [])]


@invariant(
    "purity.views",
    formula="A(view of x) = A(contiguous copy of x)",
    source=FUNCTION,
    catches=("E7", "H1", "H5"),
    needs={"views"},
    costly=True,
)
def views(backend: Backend, problem: Problem) -> float:
    """Strided, transposed, reversed, padded and broadcast views give what contiguous copies give."""
    arguments, function = _prepared(backend, problem)
    plain = backend.call(function, arguments, problem)
    ratios = []
    for position, name in enumerate(("query", "key", "value")):
        array = backend.laid_out(getattr(problem, name))
        for layout, view in backend.arrays.views(array, backend.device).items():
            viewed = [*arguments[:position], view, *arguments[position + 1 :]]
            result = backend.call(function, viewed, problem)
            ratios.append(hold_same(backend, problem, result, plain, f"with a {layout} {name}, "))
    require(bool(ratios))
    return max(ratios)


@invariant(
    "purity.compiled",
    formula="compile(A)(x) = A(x)",
    source="torch.compile, jax.jit: the same function, faster",
    catches=("P3",),
    needs={"compile"},
    costly=True,
)
def compiled(backend: Backend, problem: Problem) -> float:
    """Compiled and eager calls give the same numbers."""
    eager, fast = backend.solve(problem, compiled=False), backend.solve(problem, compiled=True)
    return hold_same(backend, problem, fast, eager, "compiled, ")


@invariant(
    "purity.vectorized",
    formula="vmap(A)((x, y)) = (A(x), A(y))",
    source="jax.vmap, torch.func.vmap: the function mapped over a new axis",
    catches=("P4",),
    needs={"vectorize"},
    costly=True,
)
def vectorized_is_loop(backend: Backend, problem: Problem) -> float:
    """Mapped over a new axis the function gives what a loop gives."""
    changed = {name: other_values(problem, getattr(problem, name)) for name in ("query", "key", "value")}
    problems = (problem, problem.replace(**changed))
    ratios = []
    for index, (one, result) in enumerate(zip(problems, vectorized(backend, problems), strict=True)):
        ratios.append(hold_same(backend, one, result, backend.solve(one), f"mapped, at {index}, "))
    return max(ratios)


@invariant(
    "purity.silent",
    formula="standard output after the call = before it",
    source="command line interface guidelines: a library does not print",
    catches=(),
)
def silent(backend: Backend, problem: Problem) -> float:
    """A call prints nothing."""
    backend.printed.seek(0)
    backend.printed.truncate()
    backend.solve(problem)
    if text := backend.printed.getvalue():
        raise Violation(f"standard output: wanted nothing, came {text[:80]!r}")
    return 0.0
