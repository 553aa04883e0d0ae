"""The plain call: array library, which input is which, layout, what is returned, and the default scale."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from attnspec.probing.adapter import ROLES, Adapter
from attnspec.probing.finding import Finding, Trial
from attnspec.probing.lab import Lab
from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.contract import CONVENTIONS
from attnspec.specs.invariants.common import hold_result
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import Recipe, Shape

SHAPES = (Shape(2, 3, 3, 5, 5, 4, 4), Shape(1, 2, 2, 4, 4, 3, 3, rank=3), Shape(1, 1, 1, 4, 4, 3, 3, rank=2))
"""One of each rank, all sizes of which differ but L = S and Dk = Dv, which not every function can tell apart."""

TRIED = ("float32", "float64", "bfloat16")


@dataclass(frozen=True)
class Plain:
    """The plain call that works: the adapter, the problem, and the hypotheses that were tried."""

    adapter: Adapter
    problem: Problem
    orders: tuple[Trial, ...]
    layouts: tuple[Trial, ...]


def plain_call(lab: Lab, start: Adapter, layouts: tuple[str, ...]) -> tuple[Plain | None, list[Trial]]:
    """The first that gives the oracle's answer in the library of ``start``, and everything that was tried."""
    tried: list[Trial] = []
    for shape, dtype in itertools.product(SHAPES, TRIED):
        problem = Recipe(shape, dtype, "gaussian", 3).problem()
        found = _placed(lab, start, problem, layouts if shape.rank > 2 else layouts[:1], tried)
        if found is not None:
            return found, tried
    return None, tried


def _placed(lab: Lab, start: Adapter, problem: Problem, layouts: tuple[str, ...], tried: list[Trial]) -> Plain | None:
    """The one order of inputs and layout under which the answer is right; the order that their names say comes first.

    Once one order fits, the other orders cannot: of the same numbers they make another answer.
    """
    for order in _orders(start):
        trials = [
            (_answered(lab, start.with_(order=order).following(layout=layout), problem), layout) for layout in layouts
        ]
        tried += [trial for (_, trial), _ in trials]
        fitting = [adapter for (adapter, _), _ in trials if adapter is not None]
        if len(fitting) == 1:
            orders = [
                Trial(order, True, "fits"),
                *(Trial(o, False, "another answer") for o in _orders(start) if o != order),
            ]
            return Plain(
                fitting[0], problem, tuple(orders), tuple(Trial(lay, t.fits, t.came) for (_, t), lay in trials)
            )
    return None


def _orders(adapter: Adapter) -> list[tuple[str, ...]]:
    return sorted(itertools.permutations(ROLES), key=lambda order: order != adapter.subject.proposed)


def _answered(lab: Lab, adapter: Adapter, problem: Problem) -> tuple[Adapter | None, Trial]:
    """The adapter as it gives the right answer, in whatever is returned and with the default scale that it has."""
    last = Trial(adapter.order, False, "nothing was returned")
    for candidate in _unpacked(lab, adapter, problem):
        for unscaled in (False, True):
            last = lab.attempt(candidate, problem, adapter.order, _unscaled if unscaled else None)
            if last.fits:
                return candidate.with_(unscaled=unscaled), last
    return None, last


def _unscaled(backend: Backend, problem: Problem) -> float:
    """The result against what comes without any scale."""
    return hold_result(backend, problem.with_options(scale=1.0), backend.solve(problem))


def _unpacked(lab: Lab, adapter: Adapter, problem: Problem) -> Iterator[Adapter]:
    """The adapter that takes the output out of what is returned: an array itself, or one of a tuple."""
    count = returned(lab, adapter, problem)
    if count is None:
        yield adapter
    for place in range(count or 0):
        yield adapter.with_(parts={"output": place}, wrapped=True)


def returned(lab: Lab, adapter: Adapter, problem: Problem) -> int | None:
    """How many things the function returns in a tuple, None for no tuple or if it raises."""
    backend = lab.backend(adapter.with_(parts={}))
    inputs, extras, plain = backend.native(problem)
    try:
        with backend.guarded(problem.features):
            result = backend.positional(tuple(extras), plain, backend.runs_compiled(problem))(*inputs, *extras.values())
    except BackendError:
        return None
    return len(result) if isinstance(result, tuple | list) else None


def findings(plain: Plain) -> Iterator[Finding]:
    """What the plain call shows."""
    adapter, sizes = plain.adapter, _sizes(plain.problem)
    inputs = ", ".join(f"{n} = {r}" for n, r in zip(adapter.subject.inputs, adapter.order, strict=True))
    yield Finding("inputs", inputs, f"the three arrays of {sizes} in each order", plain.orders)
    if plain.problem.query.ndim > 2:
        yield Finding("layout", adapter.conventions["layout"], f"query, key and value of {sizes}", plain.layouts)
    else:
        yield Finding("layout", None, "takes two axes only", asked=False, wanted=CONVENTIONS["layout"])
    scales = (Trial("1/√D", not adapter.unscaled, ""), Trial("none", adapter.unscaled, ""))
    trials = tuple(Trial(t.value, t.fits, "fits" if t.fits else "another answer") for t in scales)
    yield Finding("default_scale", "none" if adapter.unscaled else "1/√D", f"no scale given, {sizes}", trials)


def _sizes(problem: Problem) -> str:
    named = zip(("B", "Hq", "Hkv", "L", "S", "Dk", "Dv"), problem.shape, strict=True)
    return f"{', '.join(f'{name} {size}' for name, size in named)}, rank {problem.query.ndim}, {problem.dtype}"
