"""A backend under watch: each call is noted before it is made, and one that killed a process before is refused."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from attnspec.crumb import Crumb, Note
from attnspec.errors import one_line
from attnspec.specs.backend import Backend, BackendError, Result
from attnspec.specs.catalogue import Check, Inapplicable, Violation
from attnspec.specs.contract import FUNCTIONS, TRANSFORMS
from attnspec.specs.problem import Problem


@dataclass
class Watch:
    """What is being done: which invariant is checked on which case, and which problem the backend is called with."""

    crumb: Crumb
    deadly: Mapping[str, str]
    """The key of a call → what came of it."""
    surveying: bool = False
    """Checks that are made meanwhile serve the survey."""
    invariant: str = ""
    case: Problem | None = None
    call: Problem | None = None
    compiled: bool = False
    guise: str = ""
    """How the function is called, where it is called in several ways: what kills in one may do in another."""

    def entering(self, features: frozenset[str]) -> None:
        """Note the call. BackendError if it killed a process before."""
        functions = features & frozenset(FUNCTIONS)
        call = self.case if functions else self.call
        if call is None:
            return
        how = "+".join(
            sorted(features & frozenset(FUNCTIONS + TRANSFORMS))
            + ["compiled"] * self.compiled
            + [self.guise] * bool(self.guise)
        )
        note = Note(self.invariant, self.case or call, call, how)
        if self.surveying:
            note = Note("", call, call, how)
        if self.deadly and (death := self.deadly.get(note.key)):
            raise BackendError(f"{note.function} {death}", features)
        self.crumb.write(note)

    def watching(self, id: str, check: Check) -> Check:
        """The check of the invariant ``id``, under watch; one that breaks off does not hold."""

        def watched(backend: Backend, problem: Problem) -> float:
            self.invariant, self.case = id, problem
            try:
                return check(backend, problem)
            except (Violation, Inapplicable, BackendError):
                raise
            except Exception as error:
                cause = f"{type(error).__name__}: {one_line(error)}"
                message = "wanted a result that can be compared, came one on which the check broke off"
                raise Violation(f"{message}: {cause}") from error

        return watched


@dataclass(frozen=True, eq=False)
class Watched(Backend):
    """A backend under watch."""

    watch: Watch = field(kw_only=True)

    def native(self, problem: Problem) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
        """Keep the problem that a call is coming for."""
        self.watch.call = problem
        return super().native(problem)

    def solve(self, problem: Problem, compiled: bool | None = None) -> Result:
        """Keep whether the call is compiled."""
        self.watch.compiled = self.runs_compiled(problem) if compiled is None else compiled
        try:
            return super().solve(problem, compiled)
        finally:
            self.watch.compiled = False

    @contextlib.contextmanager
    def guarded(self, features: frozenset[str]) -> Iterator[None]:
        """Note the call, then guard it."""
        self.watch.entering(features)
        with super().guarded(features):
            yield
