"""All backends on one workload: each in a process of its own, prepared one after the other, then timed in turns.

The turns' order changes from round to round, so that whatever else the machine does falls on all alike. Whoever is
wrong, falls back, fails, crashes or takes too long is out of the contest, and the others go on.
"""

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from attnspec.benchmarks.workloads import Workload
from attnspec.child import Child
from attnspec.memory import share
from attnspec.targets import names_of, short_name

OK, WRONG, FELL_BACK, FAILED, SKIPPED = "ok", "wrong", "fell back", "failed", "skipped"

QUIET = 0.03
"""Seconds between two turns, after which the threads of the last one's BLAS sleep."""

FEWEST, LONG = 2, 10.0
"""Rounds of each backend in any case; no more than those once its calls have taken so many seconds."""

WORKER = "attnspec.benchmarks.worker"


@dataclass(frozen=True)
class Limits:
    """How much each case gets: rounds, seconds for a single answer, GiB."""

    rounds: int = 7
    timeout: float = 120.0
    memory: float | None = None


@dataclass(frozen=True)
class Case:
    """The request to a worker."""

    target: str
    workload: str
    memory: float


@dataclass
class Entry:
    """What came of one backend on one workload. Only one that is ok is ranked."""

    target: str
    workload: Workload
    status: str = OK
    reason: str = ""
    info: dict[str, Any] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    """Of a call, by round."""
    backend: str = ""
    """What tables call the target; its short name unless given."""

    def __post_init__(self) -> None:
        self.backend = self.backend or short_name(self.target)

    @property
    def name(self) -> str:
        """What it is called in results."""
        return f"{self.backend}-{self.workload.name}"

    def out(self, status: str, reason: str) -> None:
        """Take it out of the contest."""
        self.status, self.reason = status, reason

    @property
    def extra_info(self) -> dict[str, Any]:
        """What the result file says beside times."""
        w = self.workload
        head = {"backend": self.backend, "workload": w.name, "status": self.status, "reason": self.reason}
        asked = {"what": w.what, "dtype": w.dtype, "shape": w.sizes, "options": list(w.options), "family": w.family}
        return {**head, **asked, **self.info}


Listener = Callable[[Entry], None]
"""Is told of each answer, and of each round that a backend sits out."""


def contest(
    workload: Workload, targets: Sequence[str], limits: Limits, listen: Listener = lambda entry: None
) -> list[Entry]:
    """What came of each target on the workload. ValueError for a target that cannot be loaded, though all is there."""
    named = zip(targets, names_of(targets), strict=True)
    entries = [Entry(target, workload, backend=name) for target, name in named]
    with contextlib.ExitStack() as stack:
        memory = share(1) if limits.memory is None else limits.memory
        cases = (Case(target, workload.name, memory) for target in targets)
        children = [stack.enter_context(Child(case, [], {}, worker=WORKER, memory=memory)) for case in cases]
        players = [_Player(entry, child, limits.timeout) for entry, child in zip(entries, children, strict=True)]
        for player in players:
            player.take()
        for player in _in(players):
            player.turn({"prepare": workload.name}, listen)
        _rounds(players, limits.rounds, listen)
    return entries


def _in(players: Sequence["_Player"]) -> Iterator["_Player"]:
    return (player for player in players if player.entry.status == OK)


def _rounds(players: Sequence["_Player"], rounds: int, listen: Listener) -> None:
    order = random.Random(0)
    for number in range(rounds):
        for player in _in(order.sample(players, len(players))):
            if number < FEWEST or sum(player.entry.seconds) < LONG:
                player.turn({"round": number}, listen)
            else:
                listen(player.entry)


@dataclass
class _Player:
    """A backend's entry and its process."""

    entry: Entry
    child: Child
    timeout: float

    def turn(self, order: dict[str, Any], listen: Listener) -> None:
        """Have it do something, and wait."""
        self.child.send(order)
        self.take()
        listen(self.entry)
        time.sleep(QUIET)

    def take(self) -> None:
        """Act on its next event, or on its end."""
        match self._event():
            case {"event": "loaded", "versions": dict(versions)}:
                self.entry.info["versions"] = versions
            case {"event": "prepared", "info": dict(info)}:
                self.entry.info |= info
            case {"event": "round", "seconds": float(seconds), "error_over_bound": error}:
                self.entry.seconds.append(seconds)
                self.entry.info["error_over_bound"] = max(self.entry.info["error_over_bound"], error)
            case {"event": "unranked", "status": str(status), "reason": str(reason)}:
                self.entry.out(status, reason)
            case {"event": "error", "message": str(message), "unavailable": bool(unavailable)}:
                if not unavailable:
                    raise ValueError(message)
                self.entry.out(SKIPPED, message)

    def _event(self) -> dict[str, Any] | None:
        """What it says; None if it was taken out instead, for it died, hangs or takes too much memory."""
        end = time.monotonic() + self.timeout
        while time.monotonic() < end:
            event = self.child.event(1.0)  # rarely looked at: that takes time too
            if event is not None:
                return event
            if self.child.dead:
                self.entry.out(FAILED, f"crashed: {self.child.ending()}")
                return None
            if self.child.greedy:
                self.child.stop()
                self.entry.out(SKIPPED, f"wanted at most {self.child.memory:.3g} GiB of memory, came a call of more")
                return None
        self.child.stop()
        self.entry.out(FAILED, f"hung: no answer in {self.timeout:.3g} s")
        return None
