"""The process of one backend on one workload: it prepares, then times a round whenever it is told to.

A request comes in as JSON, then orders, one a line; an event goes out for each. Of all such processes only the one that
was told last computes.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from attnspec import worker
from attnspec.benchmarks.subject import Unranked
from attnspec.benchmarks.trial import Trial
from attnspec.benchmarks.workloads import WORKLOADS
from attnspec.errors import one_line
from attnspec.loading import load
from attnspec.specs.backend import BackendError
from attnspec.verdict import about, versions_of


def serve(request: dict[str, Any], events: TextIO) -> None:
    """Load the target and do as told until the orders end; what stops it from being ranked is the last event."""
    os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"  # what compiling costs is told
    sys.path.append(str(Path(request["target"]).resolve().parent))  # for what it imports later, in its calls
    try:
        backend = load(request["target"])
    except Exception as cause:
        worker.send_error(request, cause, events)
        return
    versions = versions_of(about(backend))
    worker.send(events, event="loaded", versions=versions, backend=backend.name)
    _telling(events, lambda: _obey(lambda: Trial(backend, WORKLOADS[request["workload"]], request["memory"]), events))


def _obey(start: Callable[[], Trial], events: TextIO) -> None:
    """The first order is to prepare, every other one a round's number."""
    worker.ORDERS.get()
    trial = start()
    worker.send(events, event="prepared", info=trial.prepared())
    while True:
        seconds, error = trial.round(json.loads(worker.ORDERS.get())["round"])
        worker.send(events, event="round", seconds=seconds, error_over_bound=error)


def _telling(events: TextIO, work: Callable[[], None]) -> None:
    """Whatever is raised becomes an event."""
    try:
        work()
    except Unranked as why:
        worker.send(events, event="unranked", status=why.status, reason=str(why))
    except Exception as cause:
        kind = "" if isinstance(cause, BackendError) else f"{type(cause).__name__}: "
        worker.send(events, event="unranked", status="failed", reason=f"{kind}{one_line(cause)}")


if __name__ == "__main__":
    worker.main(serve)
