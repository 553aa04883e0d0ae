"""Whether a timed call's own outputs are right: sampled rows against the oracle, and every gradient they touch.

A row of the output takes one query and all keys, so that the oracle's cost grows with the rows alone. The cotangent is
0 elsewhere: then the gradients by key and value are those of the sampled rows too.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnspec.benchmarks.inputs import Inputs
from attnspec.specs.backend import Backend
from attnspec.specs.bound import Bound
from attnspec.specs.compare import Difference, worst
from attnspec.specs.oracle import Solution, in_window
from attnspec.specs.problem import Array, Problem, generator

Arrays = Mapping[str, Array]

HEADS, ELEMENTS = 16, 2**22
"""Key heads that are looked at in a call, and elements of all their keys, unless one has more: those drawn by number.
Of eight heads and 8192 keys of 64 numbers, all."""


def visible(inputs: Inputs, rows: Array, conventions: Mapping[str, Any]) -> Array:
    """(rows, keys) boolean: which keys the rows see, the same for every batch entry and head."""
    w = inputs.workload
    offset = w.keys - w.queries if conventions["causal_alignment"] == "bottom-right" else 0
    behind = rows[:, None] + offset - np.arange(w.keys)
    seen = np.ones(behind.shape, bool)
    if w.is_causal:
        seen &= behind >= 0
    if w.window is not None:
        seen &= in_window(behind, w.window, conventions["window"])
    if w.masked:
        seen &= inputs.options["mask"][0, 0, rows]
    if w.lengths:
        seen &= inputs.segments[rows, None] == inputs.segments
    return np.asarray(seen)


def pairs(inputs: Inputs, conventions: Mapping[str, Any]) -> int:
    """How many pairs of a query and a key that it sees there are, over all heads."""
    w = inputs.workload
    blocks = (np.arange(start, min(start + 512, w.queries)) for start in range(0, w.queries, 512))
    return w.batch * w.heads * sum(int(visible(inputs, rows, conventions).sum()) for rows in blocks)


def error(backend: Backend, inputs: Inputs, number: int, came: Arrays) -> Difference:
    """The sampled element that is furthest off, in error ÷ bound.

    ``came`` has "output", and of forward and backward "query", "key" and "value" for the gradients, all BHLD.
    """
    w = inputs.workload
    most = min(max(ELEMENTS // (w.keys * w.width), 1), HEADS)
    spots = generator(number, 0xB1).permutation(w.batch * w.kv_heads)[:most]
    problem = inputs.problem(number)
    found = (_error(backend, inputs, number, problem, came, *divmod(int(spot), w.kv_heads)) for spot in spots)
    return max(found, key=lambda each: each.ratio)


def _error(
    backend: Backend, inputs: Inputs, number: int, problem: Problem, came: Arrays, entry: int, kv_head: int
) -> Difference:
    """The same of one key head of one batch entry, and of the query heads that read it."""
    w, rows = inputs.workload, inputs.rows(number)
    heads = np.flatnonzero(Solution(problem, backend.conventions).kv_head == kv_head)
    spot = np.ix_(np.array([entry]), heads, rows)
    shown = visible(inputs, rows, backend.conventions)
    key, value = (array[entry : entry + 1, kv_head : kv_head + 1] for array in (problem.key, problem.value))
    some = Problem(problem.query[spot], key, value, {} if shown.all() else {"mask": shown[None, None]})
    solution = Solution(some, backend.conventions)  # not kept, as those of many small problems are
    bound = Bound(solution, backend.precision(w.dtype), backend.conventions["value_range"] == "sum")
    found = [worst(came["output"][spot], solution.output, bound.output)]
    if w.backward:
        cotangent = inputs.cotangent(number)[spot]
        parts = (came["query"][spot], *(came[name][entry, kv_head][None, None] for name in ("key", "value")))
        exact, bounds = solution.gradients(cotangent), bound.gradients(cotangent)
        found += [worst(*each) for each in zip(parts, exact, bounds, strict=True)]
    return max((each for each in found if each is not None), key=lambda each: each.ratio)
