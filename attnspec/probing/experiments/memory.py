"""Whether memory grows with L·S or with L + S: measured at one length and at four times it."""

from collections.abc import Callable, Sequence
from typing import Any

from attnspec.probing.adapter import Adapter
from attnspec.probing.finding import Finding, Trial
from attnspec.probing.lab import Lab
from attnspec.specs.backend import BackendError
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import Recipe, Shape

Measure = Callable[[Callable[..., Any], Sequence[Any]], int]

NAME = "memory"
LENGTHS = (512, 2048)
CLASSES = ("O(L+S)", "O(L·S)")
BETWEEN = 8.0
"""Four times the length takes four times the memory, or sixteen times; this lies between."""


def memory(lab: Lab, adapter: Adapter, plain: Problem) -> Finding:
    """The class, by how much more four times the length takes."""
    if getattr(lab.backend(adapter).arrays, "peak_memory", None) is None:
        return Finding(NAME, None, f"no measure of memory for {adapter.arrays}", asked=False, wanted=CLASSES)
    dtype = "float32" if "float32" in adapter.dtypes else adapter.dtypes[0]
    words = f"one head of width 8 with L = S = {LENGTHS[0]} and {LENGTHS[1]}, {dtype}, no option"
    try:
        less, more = (_peak(lab, adapter, Recipe(_shape(length, plain), dtype).problem()) for length in LENGTHS)
    except BackendError as error:
        return Finding(NAME, None, words, (Trial("measured", False, str(error)),), wanted=CLASSES)
    factor = more / max(less, 1)
    came = f"{less / 1e6:.3g} MB and {more / 1e6:.3g} MB, {factor:.3g} times as much"
    return Finding(NAME, CLASSES[factor > BETWEEN], words, (Trial("measured", True, came),), wanted=CLASSES)


def _shape(length: int, plain: Problem) -> Shape:
    return Shape(1, 1, 1, length, length, 8, 8, rank=plain.query.ndim)


def _peak(lab: Lab, adapter: Adapter, problem: Problem) -> int:
    """In bytes; the call is noted like any other."""
    backend = lab.backend(adapter)
    inputs, _, _ = backend.native(problem)
    with backend.guarded(problem.features):
        measure: Measure = getattr(backend.arrays, "peak_memory")  # noqa: B009  # a binding may be without
        return measure(backend.positional((), {}), inputs)
