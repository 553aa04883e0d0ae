"""The experiments as their parent process sees them: whatever kills or hangs one is refused in the next process."""

import time
from typing import Any

from attnspec.blame import DEATHS
from attnspec.child import Child
from attnspec.isolate import SHORT
from attnspec.probing.finding import Finding, Trial
from attnspec.probing.request import Request

WORKER = "attnspec.probing.worker"


class Ended(Exception):
    """A process has died or was ended; what it did last is told by its notes."""


class Hung(Ended):
    """A call takes too long."""


def probed(request: Request, timeout: float) -> tuple[list[Finding], str]:
    """The findings and the adapter's text. ValueError for what is wrong with the target, or if it kills too often.

    ``timeout`` in seconds is for all; a single call may take a fifth of it.
    """
    deadly: dict[str, str] = {}
    end, patience = time.monotonic() + timeout, timeout / 5
    for _ in range(DEATHS):
        with Child(request, [], deadly, worker=WORKER) as child:
            try:
                return _followed(child, end, patience)
            except Ended as death:
                note = child.note()
                if note is None or note.key in deadly or time.monotonic() >= end:
                    raise ValueError(
                        f"{request.target}: wanted a function that can be tried, came one that {death}"
                    ) from None
                deadly[note.key] = str(death)
                patience = max(patience / 10, SHORT) if isinstance(death, Hung) else patience
    raise ValueError(f"{request.target}: wanted a function that can be tried, came one that killed {DEATHS} processes")


def _followed(child: Child, end: float, patience: float) -> tuple[list[Finding], str]:
    """Everything that a process finds. Ended if it dies or a call takes too long; until the first, it may load."""
    found: list[Finding] = []
    source, calls, since = "", 0, time.monotonic()
    while time.monotonic() < end:
        match child.event(0.05):
            case {"event": "finding", "finding": dict(finding)}:
                found.append(read(finding))
            case {"event": "adapter", "source": str(text)}:
                source = text
            case {"event": "error", "message": str(message)}:
                raise ValueError(message)
            case {"event": "done"}:
                return found, source
            case None if child.dead:
                raise Ended(f"crashed: {child.ending()}")
        if child.calls != calls:
            calls, since = child.calls, time.monotonic()
        if calls and time.monotonic() - since > patience:
            raise Hung(f"hung: no answer in {patience:.3g} s")
    raise Ended("takes too long: more time is given by --timeout")


def read(data: dict[str, Any]) -> Finding:
    """A finding from what ``to_json`` wrote."""
    fields = {name: value for name, value in data.items() if name != "told"}
    trials = tuple(Trial(**trial) for trial in fields.pop("trials"))
    return Finding(**{**fields, "trials": trials, "wanted": tuple(fields["wanted"])})
