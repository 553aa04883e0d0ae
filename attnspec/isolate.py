"""Verifying a target in processes of its own, so that whatever it does costs its own row and nothing else.

A call that kills its process, or never comes back, is told to the next process, which refuses it with an error. So the
survey finds out which feature kills, as it does for features that raise; past the survey the invariant has its row,
and the rest goes on.
"""

import threading
import time

from attnspec.blame import Death, Listener, Run, bury, close
from attnspec.child import Child, Job
from attnspec.culprit import traced
from attnspec.specs.outcome import PASSED
from attnspec.targets import short_name
from attnspec.verdict import CRASHED, HUNG, NOT_RUN, Row, Verdict, row_from

SHORT = 1.0
"""No call is said to hang before this many seconds, for a machine may be busy."""

DONE = Death(PASSED, "")
"""The end of a process that has said all there was to say."""


class Stopped(Exception):
    """The user has interrupted the run."""


def verify(job: Job, listen: Listener = lambda verdict, total: None, stopped: threading.Event | None = None) -> Verdict:
    """Verify the job's target. Stopped if the event comes."""
    run = Run(job, listen, stopped or threading.Event(), Verdict(job.target), max(job.timeout / 10, SHORT))
    while step(run):
        pass
    return close(run)


def step(run: Run) -> bool:
    """One process; whether another one is needed."""
    patterns = list(run.job.patterns) if run.expected is None else run.remaining()
    before, run.loaded = set(run.settled), False
    with Child(run.job, patterns, run.deadly, memory=run.job.memory) as child:
        death = follow(run, child)
    if death is not DONE and run.expected is None:
        run.verdict.error = f"{run.job.target}: wanted a module that imports, came one that {death.text}"
    if death is DONE or run.expected is None or run.left() <= 0:
        return False
    return bury(run, traced(run, death), set(run.settled) - before)


def follow(run: Run, child: Child) -> Death:
    """Take the child's events until it is done, or dies, or takes too long."""
    calls, since = 0, time.monotonic()
    while not run.stopped.is_set():
        event = child.event(0.05)
        if event is not None and (ended := take(run, event)) is not None:
            return ended
        if event is None and child.dead:
            history = tuple(child.history() if child.killed else ())
            return Death(CRASHED, f"crashed: {child.ending()}{place(run, child)}", child.note(), history=history)
        if event is not None or child.calls != calls:
            calls, since = child.calls, time.monotonic()
        if child.greedy:
            child.stop()
            return Death(CRASHED, f"took more than {child.memory:.3g} GiB{place(run, child)}", child.note())
        if run.left() <= 0 or (run.loaded and time.monotonic() - since > run.patience):
            return _hung(run, child)
    raise Stopped


def take(run: Run, event: dict[str, object]) -> Death | None:
    """Act on an event; how the process ended, if that was its last one."""
    match event:
        case {"event": "loaded", "about": dict(about), "expected": list(expected)}:
            run.loaded, run.verdict.about = True, about
            run.expected = expected if run.expected is None else run.expected
            run.listen(run.verdict, len(run.expected))
        case {"event": "ran", "ran": dict(ran)}:
            run.verdict.about["ran"] = ran
        case {"event": "row", "row": dict(row)}:
            _receive(run, row_from(row))
        case {"event": "internal", "message": str(message), "invariant": str(invariant)}:
            return Death(NOT_RUN, f"internal error: {message}", invariant=invariant)
        case {"event": "error", "message": str(message), "unavailable": bool(unavailable)}:
            run.verdict.error, run.verdict.unavailable = message, unavailable
            return DONE
        case {"event": "done"}:
            return DONE
    return None


def _receive(run: Run, row: Row) -> None:
    """Keep a row that is wanted, and one that says why there will be no others."""
    assert run.expected is not None
    if row.invariant not in run.expected and row.plainest_fails:
        run.expected.insert(0, row.invariant)
    if row.invariant in run.expected:
        run.settle(row)


def place(run: Run, child: Child) -> str:
    """Where in the target's file it ended, if that is known."""
    return child.place(short_name(run.job.target))


def _hung(run: Run, child: Child) -> Death:
    """The end of a process that takes too long; the next ones get less patience, for many calls may hang alike."""
    child.stop()
    waited = run.patience if run.loaded else run.job.timeout
    run.patience = max(run.patience / 10, SHORT)
    text = f"hung: no answer in {waited:.3g} s{place(run, child)}"
    return Death(HUNG, text, child.note())
