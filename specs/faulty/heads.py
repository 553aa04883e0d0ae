"""Heads, samples and keys mixed up."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnspec.specs.faulty.registry import fault
from attnspec.specs.oracle import Conventions, Solution
from attnspec.specs.problem import Array, Problem, lifted


@fault("heads-mapped-otherwise", "grouped heads are tiled, or tiled ones grouped", "G8", "G9", "G10")
def _(p: Problem, c: Conventions) -> Conventions | None:
    return {"gqa_map": {"grouped": "tiled", "tiled": "grouped"}[c["gqa_map"]]} if "gqa" in p.features else None


@fault("heads-read-the-first", "every query head reads the first key and value head", "E7", "G10")
class _FirstHead(Solution):
    @cached_property
    def kv_head(self) -> NDArray[np.intp]:
        return np.zeros(self.problem.shape[1], np.intp)


def _by_view(array: Array) -> Array:
    """Heads split off by a view along the sequence, without a transpose."""
    heads, length = lifted(array).shape[1:3]
    turned = array.reshape(*array.shape[:-3], length, heads, array.shape[-1])
    return np.ascontiguousarray(np.swapaxes(turned, -3, -2))


@fault("heads-split-by-view", "heads and positions of query, key and value are mixed by a view", "G2", "G3", "G4")
def _(p: Problem, c: Conventions) -> Problem | None:
    if p.query.ndim < 3 or 0 in p.shape:
        return None
    return p.replace(query=_by_view(p.query), key=_by_view(p.key), value=_by_view(p.value))


@fault("samples-share-the-first-keys", "all samples attend to the first one's keys and values", "G6")
def _(p: Problem, c: Conventions) -> Problem | None:
    batch = p.shape[0]
    return p.replace(key=p.key[:1].repeat(batch, 0), value=p.value[:1].repeat(batch, 0)) if batch > 1 else None


@fault("values-are-the-keys", "the keys are summed instead of the values")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.replace(value=p.key) if p.shape[5] == p.shape[6] else None


@fault("last-key-left-out", "the last key is never read", "H14", "O12")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _without_key(p, -1)


@fault("first-key-left-out", "the first key is never read")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _without_key(p, 0)


def _without_key(problem: Problem, place: int) -> Problem | None:
    keys = problem.shape[4]
    if keys == 0:
        return None
    others = np.arange(keys) != place % keys
    return problem.with_options(mask=problem.options.get("mask", np.ones((1, 1), bool)) & others)
