"""For other projects' pytest suites: one test for each backend–invariant pair.

@attnspec.parametrize("my_attention.py")
def test_attention(check):
    check()
"""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from attnspec.api import named_profile
from attnspec.child import Job
from attnspec.errors import Unavailable
from attnspec.loading import load
from attnspec.specs.backend import Backend
from attnspec.specs.cases import Profile
from attnspec.specs.catalogue import catalogue
from attnspec.specs.examine import examine
from attnspec.specs.outcome import FAILED, KNOWN, NEVER_RAN, NOT_CLAIMED, Outcome
from attnspec.specs.verify import expected, foundations, strict
from attnspec.targets import label
from attnspec.verdict import Row, Verdict, about, row_of
from attnspec.wording import declaration_lines, failure_lines

Target = str | Path | ModuleType | Backend


def parametrize(
    backend: Target | Iterable[Target], *, profile: str = "default", only: Iterable[str] = (), device: str | None = None
) -> pytest.MarkDecorator:
    """Run a test, with the argument ``check``, once for each invariant of each backend; its id is "backend-invariant".

    ``backend`` is a file, a dotted module, a module, the name of a backend of ours, what ``load`` gave, or several.
    ``check()`` raises AssertionError with the smallest problem that fails, and skips what the backend does not claim.
    ValueError for a target that is none; one that needs a package that is not installed is skipped.
    """
    targets = [backend] if isinstance(backend, str | Path | ModuleType | Backend) else list(backend)
    parameters = (p for target in targets for p in _parameters(target, named_profile(profile), tuple(only), device))
    return pytest.mark.parametrize("check", list(parameters))


def _parameters(target: Target, profile: Profile, only: tuple[str, ...], device: str | None) -> Iterator[Any]:
    try:
        backend = target if isinstance(target, Backend) else load(target, device=device)
    except Unavailable as error:
        yield pytest.param(None, id=f"{_typed(target)}-unavailable", marks=pytest.mark.skip(reason=str(error)))
        return
    examination = Examination(backend, profile, Job(_typed(target), profile.name, device=device))
    for id in expected(only):
        yield pytest.param(Check(examination, id), id=f"{backend.name}-{id}")


def _typed(target: Target) -> str:
    """What stands for the target in a replay command."""
    if isinstance(target, Backend):
        return target.name
    return str(getattr(target, "__file__", None) or label(target))


@dataclass
class Examination:
    """A backend's outcomes, each found when it is asked for."""

    backend: Backend
    profile: Profile
    job: Job
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    @cached_property
    def observed(self) -> Backend:
        """The backend under the lacks and the conventions that it really has, found once for all invariants."""
        backend = self.backend
        for outcome, seen in foundations(self.backend, self.profile):
            self.outcomes[outcome.invariant] = outcome
            backend = seen
        return backend

    def outcome(self, id: str) -> Outcome | None:
        """The outcome for the invariant ``id``; None if not even the plainest problem works."""
        backend = self.observed
        if id not in self.outcomes and not row_of(self.outcomes["contract.claims"]).plainest_fails:
            self.outcomes[id] = strict(
                backend.declaration.known_issues,
                examine(catalogue()[id], backend, self.profile),
                self.profile.lenient,
            )
        return self.outcomes.get(id)


@dataclass(frozen=True, repr=False)
class Check:
    """One backend, one invariant: call it."""

    examination: Examination
    id: str

    def __call__(self) -> None:
        """AssertionError if the invariant is violated; skipped if the backend does not claim what it is about."""
        __tracebackhide__ = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the verdict must not depend on the project's filters
            outcome = self.examination.outcome(self.id)
        if outcome is None or outcome.status == NOT_CLAIMED:
            pytest.skip("not claimed" if outcome else "not even the plainest problem works")
        if outcome.status == KNOWN:
            pytest.xfail(outcome.reason)
        if outcome.status == NEVER_RAN:
            raise AssertionError(f"{self.id}: never ran: no problem that the backend claims is about it")
        if outcome.status == FAILED:
            raise AssertionError("\n".join(self._lines(row_of(outcome))))

    def _lines(self, row: Row) -> Iterator[str]:
        job, backend = self.examination.job, self.examination.backend
        yield from failure_lines(row, job)
        for line in declaration_lines(Verdict(job.target, about(backend), [row])):
            yield f"if that is meant, declare {line}"

    def __repr__(self) -> str:
        return f"<check of {self.id}>"
