"""From a target and the name of an invariant, or of a known issue, to one problem that fails, and how."""

import contextlib
import logging
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from attnspec.bug_report.forms import Form, Works, form_of
from attnspec.bug_report.recorder import Call, Recorder
from attnspec.child import Child, Job
from attnspec.errors import one_of
from attnspec.isolate import verify
from attnspec.loading import load
from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.catalogue import Inapplicable, Invariant, Violation, catalogue
from attnspec.specs.contract import FEATURES, TRANSFORMS, device_and_id
from attnspec.specs.foundations import still_failing
from attnspec.specs.outcome import PASSED
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import read_case
from attnspec.specs.survey import here
from attnspec.specs.transforms import attempt, cotangent
from attnspec.verdict import Row, Verdict


@dataclass(frozen=True)
class Failure:
    """What is to be reported: which invariant fails on which problem, what was said of it, and what shows it."""

    backend: Backend
    key: str
    invariant: Invariant
    problem: Problem
    message: str
    form: Form


class Nothing(ValueError):
    """There is no such failure here."""


class Elsewhere(Nothing):
    """It is one of another device."""


def failure(job: Job, key: str) -> Failure:
    """The failure of ``key``: an invariant's id, with a device or without, or features joined by ``+``.

    ValueError if the target does not load, nothing is called so, no script can show it, or (Nothing) it does not fail.
    """
    where, id = device_and_id(key)
    backend = load(job.target, device=job.device)
    if where and where != backend.device:
        raise Elsewhere(f"{job.target}: {key}: wanted an issue of {backend.device}, came one of {where} alone")
    if "." not in id:
        return _of_features(backend, key)
    invariant = catalogue()[one_of("invariant", id, catalogue())]
    if id == "contract.known_issues":
        raise ValueError(
            f"{job.target}: {key}: wanted an invariant, or features as in KNOWN_ISSUES, came the check of those"
        )
    return _of_invariant(backend, job, key, invariant)


def _of_features(backend: Backend, key: str) -> Failure:
    for word in key.split("+"):
        one_of("invariant", word, (*catalogue(), *sorted(FEATURES)))
    features = frozenset(key.split("+"))
    if not here(backend, features):
        raise Elsewhere(f"{backend.name}: {key}: wanted an issue of {backend.device}, came one of another device")
    with np.errstate(all="ignore"):
        found = still_failing(backend, features)
    if found is None:
        raise Nothing(f"{backend.name}: {key}: wanted a failure to report, came right results")
    invariant, recipe = found
    return _shown(backend.claiming(features), key, invariant, recipe.problem())


@lru_cache
def verified(job: Job) -> Verdict:
    """The verdict of a run, once for all that is asked of it."""
    return verify(job)


def _of_invariant(backend: Backend, job: Job, key: str, invariant: Invariant) -> Failure:
    verdict = verified(job)
    if verdict.error:
        raise ValueError(verdict.error)
    row = next((row for row in verdict.rows if row.invariant == invariant.id), None)
    if row is None or row.trouble is None or not row.trouble.case:
        status = "nothing" if row is None else "it holds" if row.status == PASSED else f"{row.status} {row.reason}"
        raise Nothing(f"{job.target}: {key}: wanted a failure to report, came {status.strip()}")
    problem = read_case(row.trouble.case)
    if "took more than" in row.trouble.message:
        raise ValueError(
            f"{job.target}: {key}: wanted a failure that a script can show, came one that takes all memory"
        )
    if "crashed: " in row.trouble.message or "hung: " in row.trouble.message:
        return _deadly(backend, job, key, invariant, problem, row)
    if row.trouble.lacks:
        with contextlib.suppress(Nothing):  # a gradient of an option is asked for by the invariant alone
            return _shown(backend, key, invariant, problem, frozenset(row.trouble.lacks[0].split("+")))
    return _shown(backend, key, invariant, problem)


def _deadly(backend: Backend, job: Job, key: str, invariant: Invariant, problem: Problem, row: Row) -> Failure:
    """Looked at in a process of its own, whose last note is the call that does it."""
    again = replace(job, problem=problem.case, patterns=(invariant.id,))
    with Child(again, [invariant.id], {}, memory=again.memory) as child:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.process.wait(job.timeout / 10)
        note = child.note()
    if note is None or note.function != "attention":
        raise ValueError(
            f"{job.target}: {key}: wanted a crash of attention alone, came one of {note and note.function}"
        )
    words = set(note.how.split("+"))
    kind = next((word for word in ("gradient", "double_gradient", "forward_gradient") if word in words), "attention")
    mapped = (note.case, note.call) if "vectorize" in words else ()
    back = cotangent(note.call) if "gradient" in kind else None
    call = Call(kind, note.call, "compiled" in words, mapped, back)
    assert row.trouble is not None
    return Failure(backend, key, invariant, problem, row.trouble.message, Works(call, ends=False))


@contextlib.contextmanager
def _unlogged() -> Iterator[None]:
    """Without what frameworks log of calls that they refuse: of those there are many, and they are asked for."""
    logging.disable()
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


@_unlogged()
@np.errstate(all="ignore")
def _shown(
    backend: Backend, key: str, invariant: Invariant, problem: Problem, lack: frozenset[str] | None = None
) -> Failure:
    """The failure looked at again, under record."""
    recorder = Recorder.over(backend)
    try:
        if lack is None:
            invariant.check(recorder, problem)
        else:
            attempt(recorder, problem, lack & frozenset(TRANSFORMS))
    except Inapplicable:
        pass
    except (Violation, BackendError) as error:
        form = form_of(recorder, recorder.calls, error)
        if form is None:
            came = f"came one that only a whole run shows: {_line(error)}"
            raise ValueError(f"{backend.name}: {key}: wanted a failure that a script can show, {came}") from None
        return Failure(backend, key, invariant, problem, str(error), form)
    alone = "wanted a failure that shows on its problem alone, came one that depends on earlier calls"
    raise Nothing(f"{backend.name}: {key}: {alone}")


def _line(error: Any) -> str:
    return " ".join(str(error).split())
