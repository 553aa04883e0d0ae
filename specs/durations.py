"""Where the time of a run goes: drawing problems, the oracle, the error bound, the backend, compiling.

Off until ``start``, which puts a clock around each kind of work; what is nested in other work counts for itself alone.
"""

import contextlib
import functools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from attnspec.specs import recipe
from attnspec.specs.arrays import ArrayLibrary
from attnspec.specs.backend import Backend
from attnspec.specs.bound import Bound
from attnspec.specs.oracle import Solution

KINDS = ("draw", "oracle", "bound", "backend", "compile")
"""Kinds of work, in the order of the way of a problem; torch.compile's time is in the backend's."""

_spent: defaultdict[str, float] = defaultdict(float)
_running: list[str] = []
_since = 0.0


def start(arrays: ArrayLibrary) -> None:
    """Measure from now on, in this process."""
    global _since
    _since = time.perf_counter()
    recipe._cook = _timed("draw", recipe._cook)  # type: ignore[assignment]
    _clock(Solution, "oracle")
    _clock(Bound, "bound")
    guarded = Backend.guarded

    @contextlib.contextmanager
    def timed(self: Backend, features: frozenset[str]) -> Iterator[None]:
        with _running_as("backend"), guarded(self, features):
            yield

    Backend.guarded = timed  # type: ignore[method-assign]
    if hasattr(arrays, "on_compile"):
        arrays.on_compile(_compiled)


def lap() -> dict[str, float]:
    """Seconds by kind since ``start`` or the last lap; empty if nothing is measured."""
    if not _spent:
        return {}
    _switch()
    spent = {kind: round(_spent[kind], 6) for kind in KINDS if _spent[kind]}
    _spent.clear()
    return spent


def _clock(owner: type, kind: str) -> None:
    """A clock around the computed attributes and the gradients of a class."""
    for name, member in list(vars(owner).items()):
        if isinstance(member, functools.cached_property):
            member.func = _timed(kind, member.func)
        elif name == "gradients":
            setattr(owner, name, _timed(kind, member))


def _timed(kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*arguments: Any) -> Any:
        with _running_as(kind):
            return function(*arguments)

    return timed


@contextlib.contextmanager
def _running_as(kind: str) -> Iterator[None]:
    _switch()
    _running.append(kind)
    try:
        yield
    finally:
        _switch()
        _running.pop()


def _switch() -> None:
    """Book the time since the last switch for what has been running."""
    global _since
    now = time.perf_counter()
    if _running:
        _spent[_running[-1]] += now - _since
    _since = now


def _compiled(seconds: float) -> None:
    """Book time that a compiler took within other work."""
    _spent["compile"] += seconds
    if _running:
        _spent[_running[-1]] -= seconds
