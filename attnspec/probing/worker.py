"""The child process that probes one function: a request comes in as JSON, findings go out, one a line."""

import sys
from pathlib import Path
from typing import Any, TextIO

from attnspec.crumb import Crumb
from attnspec.probing.investigate import investigate
from attnspec.probing.lab import Lab
from attnspec.probing.request import Request
from attnspec.watch import Watch
from attnspec.worker import main, send, send_error


def serve(request: dict[str, Any], events: TextIO) -> None:
    """Send a finding for each experiment, then the adapter, or what went wrong."""
    sys.path.append(str(Path(request["target"]).resolve().parent))  # for what it imports later, in its calls
    lab = Lab(Watch(Crumb(request["crumb"]), request["deadly"], surveying=True))
    try:
        for event in investigate(lab, Request.read(request)):
            send(events, **event)
    except Exception as error:
        send_error(request, error, events)
    else:
        send(events, event="done")


if __name__ == "__main__":
    main(serve)
