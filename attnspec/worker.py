"""The child process that verifies one target: a request comes in as JSON, events go out as JSON, one a line.

Whatever the target prints, at whatever level, goes to standard error: the events have a descriptor of their own.
"""

import contextlib
import dataclasses
import faulthandler
import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from attnspec import layers, vectors
from attnspec.api import named_profile
from attnspec.crumb import Crumb
from attnspec.errors import Unavailable, one_line
from attnspec.loading import load
from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import catalogue
from attnspec.specs.contract import TRANSFORMS
from attnspec.specs.durations import start
from attnspec.specs.outcome import Outcome
from attnspec.specs.proof import kernels_on, kernels_ran
from attnspec.specs.recipe import read_case
from attnspec.specs.transforms import attempt
from attnspec.specs.verify import expected, replay, verify
from attnspec.verdict import about, plain, row_of
from attnspec.watch import Watch, Watched

ORDERS: queue.SimpleQueue[bytes] = queue.SimpleQueue()
"""What the parent says after the request, a line each, for those workers that are told when to do what."""


def main(serve: Callable[[dict[str, Any], TextIO], None]) -> None:
    """Serve the request on standard input; end at once when all is said."""
    with _protocol() as events, os.fdopen(_lifeline(), "r") as requests:
        request = json.loads(requests.readline())
        threading.Thread(target=_end_with_parent, args=(requests.fileno(),), daemon=True).start()
        serve(request, events)
        os._exit(0)


def serve(request: dict[str, Any], events: TextIO) -> None:
    """Load the target and send its description, then a row for each outcome, or what went wrong."""
    if request["layers"]:
        serve_layers(request, events)
        return
    watch = Watch(Crumb(request["crumb"]), request["deadly"])
    try:
        backend = prepared(request, watch)
        ids = vectors.expected(request["patterns"]) if request["vectors"] else expected(request["patterns"])
        description = about(backend)
    except Exception as error:
        send_error(request, error, events)
        return
    if request["steps"]:
        repeat(backend, request["steps"])
        send(events, event="done")
        return
    send(events, event="loaded", about=description, expected=ids)
    try:
        send(events, event="ran", ran=ran(backend, watch, request["problem"]))
    except ValueError as error:
        send_error(request, error, events)
        return
    if request["durations"]:
        start(backend.arrays)
    try:
        watch.surveying = request["problem"] is None and not request["vectors"]
        for outcome in outcomes(backend, request):
            watch.surveying = False
            send(events, event="row", row=row_of(outcome))
    except Exception as error:
        traceback.print_exc()
        invariant = "" if watch.surveying else watch.invariant
        send(events, event="internal", invariant=invariant, message=f"{type(error).__name__}: {one_line(error)}")
    else:
        send(events, event="done")


def repeat(backend: Watched, steps: list[list[str]]) -> None:
    """Do again what a process did before it died, whatever comes of it."""
    for invariant, case, how in steps:
        problem = read_case(case)
        with contextlib.suppress(Exception):
            if invariant:
                replay(backend, invariant, problem)
            else:
                attempt(backend, problem, frozenset(how.split("+")) & frozenset(TRANSFORMS))


def serve_layers(request: dict[str, Any], events: TextIO) -> None:
    """The same for layers."""
    try:
        sys.path.append(str(Path(request["target"]).resolve().parent))
        library = layers.load(request["target"], request["device"], lambda: send(events, event="calls"))
        send(events, event="loaded", about=layers.about(library), expected=layers.expected(request["patterns"]))
        for row in layers.rows(library, request):
            send(events, event="row", row=row)
        send(events, event="done")
    except Exception as error:
        send_error(request, error, events)


def prepared(request: dict[str, Any], watch: Watch) -> Watched:
    """The target as a backend under watch. ValueError if it is none."""
    sys.path.append(str(Path(request["target"]).resolve().parent))  # for what it imports later, in its calls
    backend = load(request["target"], device=request["device"], dtypes=request["dtypes"])
    parts = {part.name: getattr(backend, part.name) for part in dataclasses.fields(Backend)}
    for id, invariant in catalogue().items():
        catalogue()[id] = dataclasses.replace(invariant, check=watch.watching(id, invariant.check))
    return Watched(**parts, watch=watch)


def ran(backend: Watched, watch: Watch, case: str | None) -> Mapping[str, int]:
    """On how many problems each kernel ran, or on the one given. ValueError if that is not the one declared."""
    watch.surveying = True
    return kernels_ran(backend) if case is None else kernels_on(backend, [read_case(case)])


def outcomes(backend: Watched, request: dict[str, Any]) -> Iterator[Outcome]:
    """Those for the one problem or the vectors asked for, or of a whole run; that always tells if anything works."""
    if request["vectors"]:
        yield from vectors.outcomes(backend, request["patterns"])
    elif request["problem"] is None:
        patterns = [*request["patterns"], "contract.claims"] if request["patterns"] else []
        profile = named_profile(request["profile"], request["seed"])
        yield from verify(backend, dataclasses.replace(profile, partial=bool(request["dtypes"])), patterns)
    else:
        for id in expected(request["patterns"]):
            yield replay(backend, id, read_case(request["problem"]))


def send_error(request: dict[str, Any], error: Exception, events: TextIO) -> None:
    """Why the target cannot be verified."""
    kind = "" if isinstance(error, ValueError) else f"{request['target']}: {type(error).__name__}: "
    unavailable = isinstance(error, Unavailable)
    send(events, event="error", message=f"{kind}{one_line(error)}", unavailable=unavailable)


def send(events: TextIO, **event: Any) -> None:
    """One event, one line."""
    events.write(json.dumps(plain(event)) + "\n")
    events.flush()


def _protocol() -> TextIO:
    """What was standard output; from now on that is standard error, for whatever writes to it."""
    events = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    faulthandler.enable(sys.__stderr__ or 2)
    return events


def _lifeline() -> int:
    """What was standard input: the request, then nothing until the parent is gone; the target finds an empty one."""
    lifeline, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    return lifeline


def _end_with_parent(lifeline: int) -> None:
    """Take orders until there is no parent. Not through the file object, whose closing would wait for this thread."""
    rest = b""
    while some := os.read(lifeline, 4096):
        *orders, rest = (rest + some).split(b"\n")
        for order in orders:
            ORDERS.put(order)
    os._exit(1)


if __name__ == "__main__":
    main(serve)
