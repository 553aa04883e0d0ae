"""Keys seen or hidden by position, length or segment that should not be."""

from collections.abc import Callable

import numpy as np

from attnspec.specs.faulty.registry import fault
from attnspec.specs.oracle import Conventions, Solution
from attnspec.specs.problem import Array, Problem

POSITIONAL = ("is_causal", "window", "alibi_slopes")
"""Options that count positions, from the one corner or the other."""


# visibility by position


def _seeing(problem: Problem, conventions: Conventions, least: int, *without: str) -> Problem:
    """The problem, less some options, in which keys are visible that lie ``least`` or more behind the query."""
    mask = problem.options.get("mask", np.ones((1, 1), bool)) & (Solution(problem, conventions).position >= least)
    return problem.with_options(**dict.fromkeys(without), mask=mask)


@fault("causal-sees-the-next-key", "causality is off by one: each query sees one key of the future")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _seeing(p, c, -1, "is_causal") if p.options.get("is_causal") else None


@fault("causal-excludes-itself", "causality is off by one: no query sees its own key", "O3")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _seeing(p, c, 1, "is_causal") if p.options.get("is_causal") else None


@fault("causal-without-being-asked", "causality is on though it is off", "B23")
def _(p: Problem, c: Conventions) -> Problem | None:
    return None if p.options.get("is_causal") else p.with_options(is_causal=True)


@fault("causal-reversed", "causality hides the past instead of the future")
def _(p: Problem, c: Conventions) -> Problem | None:
    if not p.options.get("is_causal"):
        return None
    mask = p.options.get("mask", np.ones((1, 1), bool)) & (Solution(p, c).position <= 0)
    return p.with_options(is_causal=None, mask=mask)


@fault("causal-at-both-corners", "a second, top-left causal mask is laid over the bottom-right one", "B12")
def _(p: Problem, c: Conventions) -> Problem | None:
    if not p.options.get("is_causal") or c["causal_alignment"] == "top-left":
        return None
    return _seeing(p, {**c, "causal_alignment": "top-left"}, 0)


@fault("other-corner", "positions are counted from the other corner", "B1", "B2", "B3", "B5", "B6", "B22")
def _(p: Problem, c: Conventions) -> Conventions | None:
    if not any(option in p.options for option in POSITIONAL):
        return None
    return {"causal_alignment": {"top-left": "bottom-right", "bottom-right": "top-left"}[c["causal_alignment"]]}


def _window(problem: Problem, left: int, right: int) -> Problem | None:
    """The problem with a window that is so much wider on each side."""
    if "window" not in problem.options:
        return None
    bounds = zip(problem.options["window"], (left, right), strict=True)
    return problem.with_options(window=tuple(None if bound is None else bound + more for bound, more in bounds))


@fault("window-wider-to-the-left", "the window holds one key more on the left", "M2", "M4")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _window(p, 1, 0)


@fault("window-narrower-to-the-left", "the window holds one key less on the left", "M4")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _window(p, -1, 0)


@fault("window-wider-to-the-right", "the window holds one key more on the right")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _window(p, 0, 1)


@fault("window-without-its-right-bound", "the window's right bound is ignored", "M7")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(window=(p.options["window"][0], None)) if "window" in p.options else None


@fault("window-reversed", "the window's bounds are swapped")
def _(p: Problem, c: Conventions) -> Problem | None:
    return p.with_options(window=p.options["window"][::-1]) if "window" in p.options else None


# lengths and segments


def _lengths(problem: Problem, change: Callable[[Array], Array]) -> Problem | None:
    lengths = problem.options.get("key_lengths")
    if lengths is None or lengths.size == 0:
        return None
    return problem.with_options(key_lengths=np.maximum(change(np.asarray(lengths, np.int64)), 0))


@fault("lengths-one-more", "each length is one too large")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _lengths(p, lambda lengths: lengths + 1)


@fault("lengths-one-less", "each length is one too small: the last token is left out", "O12")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _lengths(p, lambda lengths: lengths - 1)


@fault("lengths-of-the-first-sample", "the first sample's length serves all")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _lengths(p, lambda lengths: np.full_like(lengths, lengths.reshape(-1)[0]))


@fault("lengths-of-the-longest", "the longest sample's length serves all")
def _(p: Problem, c: Conventions) -> Problem | None:
    return _lengths(p, lambda lengths: np.full_like(lengths, lengths.max()))


@fault("segments-of-the-first-sample", "the first sample's segments serve all")
def _(p: Problem, c: Conventions) -> Problem | None:
    query, key = p.options.get("query_segments"), p.options.get("key_segments")
    if query is None or key is None or query.ndim < 2 or len(query) < 2:
        return None
    return p.with_options(query_segments=query[:1].repeat(len(query), 0), key_segments=key[:1].repeat(len(key), 0))
