"""Which calls a crash takes: memory that one call spoils may bring down a later, innocent one.

If what was being done when the process died does no harm in a process of its own, the shortest tail of the history
that crashes again is found by bisection; the first of its steps is the culprit, for without it the others do no harm.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from attnspec.blame import Death, Run
from attnspec.child import Child
from attnspec.crumb import Note, fingerprint

SEARCHES = 6
"""So many crashes of one target are looked into."""

REPLAY = 60.0
"""Seconds that a replay may take."""


def traced(run: Run, death: Death) -> Death:
    """The death with the culprit in place of the last call, if that one is not to blame; else as it is."""
    steps = steps_of(death.history)
    if not steps or run.searches >= SEARCHES or run.job.layers or run.job.vectors:
        return death
    run.searches += 1
    length = shortest(len(steps), lambda count: crashes(run, steps[-count:]))
    if length == 1:
        return death
    if length is None:
        alone = f"in a process of its own it does not crash, nor do the last {len(steps)} steps of the run"
        return replace(death, text=f"{death.text}; {alone}")
    later = "1 step" if length == 2 else f"{length - 1} steps"
    text = f"{death.text}, {later} of the run later: repeated, that crashes again, but not without this one"
    return replace(death, text=text, note=steps[-length], spoiled=True)


def steps_of(history: Sequence[Note]) -> list[Note]:
    """The history in the pieces that can be repeated: a check with all its calls, or a call of the survey."""
    steps: list[Note] = []
    for note in history:
        if not steps or not note.invariant or _step(note) != _step(steps[-1]):
            steps.append(note)
    return steps


def _step(note: Note) -> tuple[str, str]:
    return note.invariant, fingerprint(note.case)


def shortest(length: int, crash: Callable[[int], bool]) -> int | None:
    """The least n up to ``length`` for which the last n steps crash; None if not even all of them do."""
    if crash(1):
        return 1
    if length == 1 or not crash(length):
        return None
    harmless, deadly = 1, length
    while deadly - harmless > 1:
        middle = (harmless + deadly) // 2
        harmless, deadly = (harmless, middle) if crash(middle) else (middle, deadly)
    return deadly


def crashes(run: Run, steps: Sequence[Note]) -> bool:
    """Whether a fresh process is ended by a signal in these steps."""
    end = time.monotonic() + min(REPLAY, run.left())
    repeated = [[note.invariant, note.case.case, note.how] for note in steps]
    with Child(run.job, [], run.deadly, repeated, memory=run.job.memory) as child:
        while time.monotonic() < end and not run.stopped.is_set():
            event = child.event(0.05)
            if event is not None and event["event"] in ("done", "error", "internal"):
                return False
            if event is None and child.dead:
                return child.killed
    return False
