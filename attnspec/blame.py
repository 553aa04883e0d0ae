"""What is known in the course of a target's run, and what the death of a process is blamed on."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from attnspec.child import Job
from attnspec.crumb import Note
from attnspec.show import problem_lines
from attnspec.specs.outcome import KNOWN
from attnspec.verdict import CRASHED, HUNG, NOT_RUN, Row, Trouble, Verdict, sentence

Listener = Callable[[Verdict, int], None]
"""Is told of each new row, and how many there will be."""

DEATHS = 40
"""So many processes may die of one target before it is given up."""


@dataclass(frozen=True)
class Death:
    """How a process ended, and what it was doing then."""

    status: str
    text: str
    note: Note | None = None
    invariant: str | None = None
    """Which one, if not the note says it."""
    history: tuple[Note, ...] = ()
    """What the process did before, as far as it may matter."""
    spoiled: bool = False
    """Whether the note is of what did the harm, and something later died of it."""


@dataclass
class Run:
    """One target's run, over as many processes as it takes."""

    job: Job
    listen: Listener
    stopped: threading.Event
    verdict: Verdict
    patience: float
    """How long one call may take, in seconds."""
    start: float = field(default_factory=time.monotonic)
    loaded: bool = False
    """Whether the present process has loaded the target."""
    expected: list[str] | None = None
    settled: dict[str, Row] = field(default_factory=dict)
    deadly: dict[str, str] = field(default_factory=dict)
    deaths: int = 0
    searches: int = 0
    """For how many of these the history was searched."""

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


def bury(run: Run, death: Death, rows: set[str]) -> bool:
    """Give the death the row that it costs; whether the run can go on.

    A call that was deadly is remembered. If the survey made it, there is no row yet: the survey goes on without it.
    ``rows`` are those that the process lived to give: what it noted for one of them is out of date.
    """
    run.deaths += 1
    note, waiting = death.note, run.remaining()
    if death.invariant is not None:
        if death.invariant not in waiting:
            run.verdict.error = f"{run.job.target}: {death.text}"
            return False
        run.settle(_row(run, death.invariant, death))
    elif death.spoiled and note is not None and note.invariant in (run.expected or ()):
        run.settle(_row(run, note.invariant, death))
    elif note is not None and note.key not in run.deadly and note.invariant not in rows:
        run.deadly[note.key] = death.text
        if note.invariant in waiting:
            run.settle(_row(run, note.invariant, death))
    elif waiting:
        run.settle(_row(run, waiting[0], replace(death, note=None)))
    return bool(run.remaining()) and run.deaths < DEATHS


def _row(run: Run, id: str, death: Death) -> Row:
    says, known = sentence(id), run.verdict.about.get("known_issues", {}).get(id)
    if death.status not in (CRASHED, HUNG):
        return Row(id, death.status, says, reason=death.text)
    lines: tuple[str, ...] = ()
    case, function = "", "a layer" if run.job.layers else "attention"
    if death.note is not None:
        function = death.note.function
        lines = tuple(problem_lines(death.note.case))
        case = "" if run.job.vectors else death.note.case.case
    trouble = Trouble(f"{function} {death.text}", case, lines)
    return Row(id, KNOWN if known else death.status, says, reason=known or death.text, trouble=trouble)


def close(run: Run) -> Verdict:
    """The verdict; what has no row yet gets one that says why."""
    if run.left() <= 0:
        reason = f"out of time: {run.job.timeout:.3g} s are over"
    elif run.deaths >= DEATHS:
        reason = f"given up: {run.deaths} processes died"
    else:
        reason = "not even the plainest problem works" if run.verdict.plainest_fails else run.verdict.error
    for id in run.remaining():
        run.settle(Row(id, NOT_RUN, sentence(id), reason=reason))
    run.verdict.seconds = time.monotonic() - run.start
    return run.verdict
