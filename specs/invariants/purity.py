"""Purity: a result depends on the arguments' values alone, and a call leaves nothing behind."""

import contextlib
import ctypes
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from attnspec.specs.backend import Backend, BackendError, Result
from attnspec.specs.catalogue import Violation, hold, invariant
from attnspec.specs.contract import ARRAY_OPTIONS
from attnspec.specs.invariants.common import (
    INPUTS,
    hold_result,
    hold_same,
    part,
    renumbered,
    require,
    same_bits,
    slack,
    unchanged,
    with_keys,
)
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import Recipe, Shape

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
    named = dict(zip(INPUTS, inputs, strict=True)) | extras
    function = backend.positional(tuple(extras), plain, backend.runs_compiled(problem))
    with unchanged(backend, named):
        backend.call(function, [*inputs, *extras.values()], problem)
    return 0.0


def _hold_bits(what: str, came: Result, wanted: Result) -> None:
    for name in ("output", "weights", "lse"):
        first, second = getattr(came, name), getattr(wanted, name)
        if first is not None and not same_bits(first, second):
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
    """A result does not depend on earlier calls with other numbers, options or sizes, nor do later ones change it."""
    arguments, function = _prepared(backend, problem)
    with backend.guarded(problem.features):
        returned = function(*arguments)
        backend.arrays.synchronize(returned)
    first = backend.read(returned, problem)
    ratios = [hold_result(backend, other, backend.solve(other)) for other in _others(backend, problem)]
    _hold_bits("of the first call after others", backend.read(returned, problem), first)
    _hold_bits("of the same call after others", backend.call(function, arguments, problem), first)
    return max(ratios)


def _others(backend: Backend, problem: Problem) -> list[Problem]:
    """Other numbers in the same shapes; another scale, softcap and window as far as they are set; a key fewer."""
    plain = {"scale": 0.75, "softcap": 3.0, "window": (0, 0)}
    options = {name: value for name, value in plain.items() if name in problem.options}
    others = [renumbered(problem), *([problem.with_options(**options)] if options else [])]
    if problem.shape[4] > 1 and not backend.arrays.RUNS_COMPILED:
        others.append(with_keys(problem, slice(1, None)))
    return [other for other in others if backend.supports(other.features)]


@invariant(
    "purity.refusal",
    formula="A(x), then A(y) raises: A(x) is what it was",
    source=FUNCTION,
    costly=True,
)
def refusal(backend: Backend, problem: Problem) -> float:
    """A call that is refused leaves nothing behind: the same calls are answered as before."""
    require(problem.shape[4] > 0)
    arguments, function = _prepared(backend, problem)
    first = backend.call(function, arguments, problem)
    for name, other in _ill_fitting(problem).items():
        given, extras, _ = backend.native(other)
        with contextlib.suppress(BackendError), backend.guarded(problem.features):
            function(*given, *extras.values())
        _hold_bits(f"after a {name} that does not fit", backend.call(function, arguments, problem), first)
    return 0.0


def _ill_fitting(problem: Problem) -> dict[str, Problem]:
    """Problems in form only: with a value, a mask or a bias for one key too many."""
    longer = {"value": problem.replace(value=np.concatenate([problem.value, problem.value[..., :1, :]], axis=-2))}
    for name in ("mask", "bias"):
        array = problem.options.get(name, np.zeros(()))
        if array.ndim and array.shape[-1] > 1:
            options = {**problem.options, name: np.concatenate([array, array[..., :1]], axis=-1)}
            longer[name] = problem.replace(options=options)
    return longer


@invariant(
    "purity.storage",
    formula="A(x), then other contents at the same address: A gives what it gives for those",
    source=FUNCTION,
    needs={"views"},
    costly=True,
)
def storage(backend: Backend, problem: Problem) -> float:
    """A call on the same storage with other contents gives the result for those contents."""
    arguments, function = _prepared(backend, problem)
    backend.call(function, arguments, problem)
    other = renumbered(problem)
    for array, contents in zip(arguments, backend.native(other)[0], strict=False):
        array[...] = contents
    came = backend.call(function, arguments, other)
    return hold_same(backend, other, came, backend.solve(other), "with other contents at the same address, ")


@invariant(
    "purity.views",
    formula="A(view of x) = A(contiguous copy of x)",
    source=FUNCTION,
    catches=("E7", "H1", "H5"),
    needs={"views"},
    costly=True,
)
def views(backend: Backend, problem: Problem) -> float:
    """Strided, transposed, reversed, padded and broadcast views of any argument give what contiguous copies give."""
    arguments, function = _prepared(backend, problem)
    plain, rng = backend.call(function, arguments, problem), problem.rng
    viewed, ratios = list(arguments), []
    names = [*INPUTS, *(name for name in problem.options if name in ARRAY_OPTIONS)]
    for position, name in enumerate(names):
        others = backend.arrays.views(backend.arrays.to_numpy(arguments[position]), backend.device)
        some = {*rng.permutation(sorted(others))[:2], *({"expanded"} & others.keys())}  # few arrays can be expanded
        for layout in sorted(some):
            viewed[position] = others[layout]
            one = [*arguments[:position], viewed[position], *arguments[position + 1 :]]
            result = backend.call(function, one, problem)
            ratios.append(hold_same(backend, problem, result, plain, f"with a {layout} {name}, "))
    ratios += [*_expanded(backend, problem, arguments, function)]
    require(bool(ratios))
    together = backend.call(function, viewed, problem)
    return max(*ratios, hold_same(backend, problem, together, plain, "with views of all arguments, "))


def _expanded(backend: Backend, problem: Problem, arguments: list[Any], function: Any) -> Iterator[float]:
    """One of query, key and value repeated along an axis, by copies and by a stride of 0."""
    position = int(problem.rng.randint(3))
    array = getattr(problem, ("query", "key", "value")[position])
    axes = [axis for axis, size in enumerate(array.shape) if size > 1]
    if not axes or not array.size:
        return
    axis = axes[problem.rng.randint(len(axes))]
    changed = {("query", "key", "value")[position]: np.repeat(array.take([0], axis), array.shape[axis], axis)}
    repeated = problem.replace(**changed)
    copied = backend.native(repeated)[0][position]
    views = backend.arrays.views(backend.arrays.to_numpy(copied), backend.device)
    if "expanded" in views:
        both = [[*arguments[:position], each, *arguments[position + 1 :]] for each in (views["expanded"], copied)]
        came, wanted = (backend.call(function, each, repeated) for each in both)
        yield hold_same(backend, repeated, came, wanted, f"with an expanded argument {position}, ")


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
    problems = (problem, renumbered(problem))
    ratios = []
    for index, (one, result) in enumerate(zip(problems, backend.mapped(problems), strict=True)):
        ratios.append(hold_same(backend, one, result, backend.solve(one), f"mapped, at {index}, "))
    return max(ratios)


@invariant(
    "purity.extras",
    formula="the output of A(…, return_weights, return_lse) = A(…)",
    source="torch.nn.MultiheadAttention, need_weights: whether weights are returned changes the path, not the result",
    catches=("B8", "B13"),
    any_of={"return_weights", "return_lse"},
    costly=True,
)
def extras(backend: Backend, problem: Problem) -> float:
    """Asking for the weights or the log-sum-exp does not change the output."""
    wanted = [name for name in ("return_weights", "return_lse") if backend.supports(problem.features | {name})]
    asking = problem.with_options(**dict.fromkeys(wanted, True))
    plain = problem.with_options(return_weights=None, return_lse=None)
    require(bool(wanted) and backend.supports(asking.features))
    came, bare = (part(backend.solve(p), "output") for p in (asking, plain))
    return hold("output with weights or log-sum-exp", came, bare, slack(backend, problem))


ROUNDS = 8


@invariant(
    "purity.threads",
    formula="A(x) beside A(y) in another thread = A(x)",
    source=FUNCTION,
    catches=("P11",),
    costly=True,
)
def threads(backend: Backend, problem: Problem) -> float:
    """Calls in several threads at once give what they give one after the other."""
    problems = [problem, renumbered(problem)]
    calls = [_prepared(backend, one) for one in problems]
    alone = [backend.call(function, arguments, one) for (arguments, function), one in zip(calls, problems, strict=True)]

    def work(which: int) -> list[Any]:
        arguments, function = calls[which]
        start.wait()
        with np.errstate(all="ignore"):  # not inherited by threads
            results = [function(*arguments) for _ in range(ROUNDS)]
            backend.arrays.synchronize(results)  # here: what MLX has not computed yet, only this thread can
            return results

    start, ratios = threading.Barrier(2), []
    with backend.guarded(problem.features), _often_switching(), ThreadPoolExecutor(2) as pool:
        returned = list(pool.map(work, (0, 1)))
    for one, some, wanted in zip(problems, returned, alone, strict=True):
        results = (backend.read(each, one) for each in some)
        ratios += [hold_same(backend, one, result, wanted, "beside another thread, ") for result in results]
    return max(ratios)


LARGE = Shape(1, 3, 3, 257, 257, 16, 16)
"""Sizes that are worth several threads, and that neither two nor three divide."""


@invariant(
    "purity.thread_count",
    formula="A(x) on one thread = A(x) on two",
    source=FUNCTION,
    needs={"threads"},
    claims={"long_rows"},
    probes=(lambda dtype: Recipe(LARGE, dtype).problem(),),
)
def thread_count(backend: Backend, problem: Problem) -> float:
    """One thread gives what several give, which divide a large problem among them."""
    with backend.arrays.threads(1):
        alone = backend.solve(problem)
    ratios = []
    for count in (2, 3):
        with backend.arrays.threads(count):
            ratios.append(hold_same(backend, problem, backend.solve(problem), alone, f"on {count} threads, "))
    return max(ratios)


@contextlib.contextmanager
def _often_switching() -> Iterator[None]:
    """Threads take turns after microseconds, so that what they share is seen."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@invariant(
    "purity.silent",
    formula="standard output after the call = before it",
    source="command line interface guidelines: a library does not print",
    catches=(),
)
def silent(backend: Backend, problem: Problem) -> float:
    """A call prints nothing, from Python or from compiled code."""
    backend.printed.seek(0)
    backend.printed.truncate()
    with _descriptor_captured(1) as written:
        backend.solve(problem)
    if text := backend.printed.getvalue() + "".join(written):
        raise Violation(f"standard output: wanted nothing, came {text[:80]!r}")
    return 0.0


@contextlib.contextmanager
def _descriptor_captured(descriptor: int) -> Iterator[list[str]]:
    """A list that holds, when all is over, what was written to the descriptor meanwhile."""
    written: list[str] = []
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        kept = os.dup(descriptor)
        os.dup2(file.fileno(), descriptor)
        try:
            yield written
        finally:
            with contextlib.suppress(TypeError, OSError):  # no C library by that name
                ctypes.CDLL(None).fflush(None)
            os.dup2(kept, descriptor)
            os.close(kept)
        file.seek(0)
        written.append(file.read().decode(errors="replace"))
