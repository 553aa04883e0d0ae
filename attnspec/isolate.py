"""Verifying a target in processes of its own, so that whatever it does costs its own row and nothing else.

A call that kills its process, or never comes back, is told to the next process, which refuses it with an error. So the
survey finds out which feature kills, as it does for features that raise; past the survey the invariant has its row,
and the rest goes on.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from attnspec import cases
from attnspec.child import Child, Job
from attnspec.crumb import Note
from attnspec.loading import short_name
from attnspec.show import problem_lines
from attnspec.specs.catalogue import catalogue
from attnspec.verdict import CRASHED, HUNG, KNOWN, NOT_RUN, Row, Trouble, Verdict, row_from

Listener = Callable[[Verdict, int], None]
"""Is told of each new row, and how many there will be."""

DEATHS = 40
"""So many processes may die of one target before it is given up."""


SHORT = 1.0
"""No call is said to hang before this many seconds, for a machine may be busy."""


class Stopped(Exception):
    """The user has interrupted the run."""


@dataclass(frozen=True)
class Death:
    """How a process ended before its time."""

    status: str
    text: str
    note: Note | None = None
    invariant: str | None = None
    """Which one, if not the note says it; "" is the survey."""


@dataclass
class Run:
    """One target's run, over as many processes as it takes."""

    job: Job
    listen: Listener
    stopped: threading.Event
    verdict: Verdict
    start: float = field(default_factory=time.monotonic)
    patience: float = 60.0
    """How long one call may take, in seconds."""
    loaded: bool = False
    """Whether the present process has loaded the target."""
    expected: list[str] | None = None
    settled: dict[str, Row] = field(default_factory=dict)
    deadly: dict[str, str] = field(default_factory=dict)
    deaths: int = 0

    def remaining(self) -> list[str]:
        """The ids without a row."""
        return [id for id in self.expected or () if id not in self.settled]

    def settle(self, row: Row) -> None:
        """Keep the row and tell of it."""
        self.settled[row.invariant] = row
        self.verdict.rows = [self.settled[id] for id in self.expected or () if id in self.settled]
        self.listen(self.verdict, len(self.expected or ()))

    def left(self) -> float:
        """Seconds until the target's time is up."""
        return self.start + self.job.timeout - time.monotonic()


def verify(job: Job, listen: Listener = lambda verdict, total: None, stopped: threading.Event | None = None) -> Verdict:
    """Verify the job's target. Stopped if the event comes."""
    run = Run(job, listen, stopped or threading.Event(), Verdict(job.target), patience=max(job.timeout / 10, SHORT))
    while step(run):
        pass
    for id in run.remaining():
        run.settle(_row(id, NOT_RUN, reason=_why_not(run)))
    run.verdict.seconds = time.monotonic() - run.start
    return run.verdict


def step(run: Run) -> bool:
    """One process; whether another one is needed."""
    patterns = list(run.job.patterns) if run.expected is None else run.remaining()
    before, run.loaded = set(run.settled), False
    with Child(run.job, patterns, run.deadly) as child:
        death = follow(run, child)
    if death is None:
        return False
    if run.expected is None:
        run.verdict.error = f"{run.job.target}: wanted a module that imports, came one that {death.text}"
        return False
    if run.left() <= 0:
        return False
    if death.invariant is not None and death.invariant not in run.remaining():
        run.verdict.error = f"{run.job.target}: {death.text}"
        return False
    bury(run, death, set(run.settled) - before)
    return bool(run.remaining()) and run.deaths < DEATHS


def follow(run: Run, child: Child) -> Death | None:
    """Take the child's events until it is done, or dies, or takes too long."""
    calls, since = 0, time.monotonic()
    while not run.stopped.is_set():
        event = child.event(0.05)
        if event is not None and (ended := take(run, event)) is not None:
            return ended[0]
        if event is not None and run.left() > 0:
            since = time.monotonic()
        elif child.dead:
            return Death(CRASHED, f"crashed: {child.ending()}{child.place(short_name(run.job.target))}", child.note())
        elif child.calls != calls:
            calls, since = child.calls, time.monotonic()
        elif run.left() <= 0 or (run.loaded and time.monotonic() - since > run.patience):
            return _hung(run, child)
    raise Stopped


def take(run: Run, event: dict[str, object]) -> tuple[Death | None] | None:
    """Act on an event; what the process ended with, if that was the last one."""
    match event:
        case {"event": "loaded", "about": dict(about), "expected": list(expected)}:
            run.loaded, run.verdict.about = True, about
            run.expected = expected if run.expected is None else run.expected
            run.listen(run.verdict, len(run.expected))
        case {"event": "row", "row": dict(row)}:
            _receive(run, row_from(row))
        case {"event": "error", "message": str(message)}:
            run.verdict.error = message
            return (None,)
        case {"event": "internal", "message": str(message), "invariant": str(invariant)}:
            return (Death(NOT_RUN, f"internal error: {message}", invariant=invariant),)
        case {"event": "done"}:
            return (None,)
    return None


def _receive(run: Run, row: Row) -> None:
    """Keep a row that is wanted, and one that says why there will be no others."""
    assert run.expected is not None
    if row.invariant not in run.expected and row.plainest_fails:
        run.expected.insert(0, row.invariant)
    if row.invariant in run.expected:
        run.settle(row)


def _hung(run: Run, child: Child) -> Death:
    """The end of a process that takes too long; the next ones get less patience, for many calls may hang alike."""
    child.stop()
    if not run.loaded:
        return Death(HUNG, f"hung: no answer in {run.job.timeout:.3g} s{child.place(short_name(run.job.target))}")
    waited, run.patience = run.patience, max(run.patience / 10, SHORT)
    return Death(HUNG, f"hung: no answer in {waited:.3g} s{child.place(short_name(run.job.target))}", child.note())


def bury(run: Run, death: Death, rows: set[str]) -> None:
    """Remember what was deadly; give the invariant a row unless it was the survey, which goes on without it.

    ``rows`` are those that the process lived to give: what it noted for one of them is out of date.
    """
    run.deaths += 1
    note = death.note
    if death.invariant is not None:
        run.settle(_row(death.invariant, death.status, reason=death.text))
    elif note is not None and note.key not in run.deadly and note.invariant not in rows:
        run.deadly[note.key] = death.text
        if note.invariant in run.remaining():
            run.settle(_strict(run, _row(note.invariant, death.status, note, death.text)))
    elif ids := run.remaining():
        run.settle(_strict(run, _row(ids[0], death.status, None, death.text)))


def _row(id: str, status: str, note: Note | None = None, text: str = "", reason: str = "") -> Row:
    trouble = None
    if status in (CRASHED, HUNG):
        lines = tuple(problem_lines(note.case)) if note else ()
        trouble = Trouble(f"attention {text}", cases.to_json(note.case) if note else "", lines)
    return Row(id, status, catalogue()[id].sentence, reason=reason or text, trouble=trouble)


def _strict(run: Run, row: Row) -> Row:
    """A crash that is declared a known issue is one."""
    known = run.verdict.about.get("known_issues", {}).get(row.invariant)
    return row if known is None or not row.broken else replace(row, status=KNOWN, reason=known)


def _why_not(run: Run) -> str:
    if run.left() <= 0:
        return f"out of time: {run.job.timeout:.3g} s are over"
    if run.deaths >= DEATHS:
        return f"given up: {run.deaths} processes died"
    return "not even the plainest problem works" if run.verdict.plainest_fails else run.verdict.error
