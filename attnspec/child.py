"""A worker process as its parent sees it: started, listened to, and ended whatever happens."""

import contextlib
import json
import os
import platform
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnspec import crumb
from attnspec.memory import GIB, resident, share

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in ')
"""A line of what faulthandler writes."""


@dataclass(frozen=True)
class Job:
    """One target to verify, and how. ``timeout`` in seconds is for all of it; a tenth of it for a single call."""

    target: str
    profile: str = "default"
    patterns: tuple[str, ...] = ()
    device: str | None = None
    dtypes: tuple[str, ...] = ()
    problem: str | None = None
    vectors: bool = False
    """Golden vectors instead of invariants; the patterns are for their names."""
    timeout: float = 600.0
    seed: int = 0
    durations: bool = False
    layers: bool = False
    """Layers instead of attention: the target is an array library, or a module of layers."""
    memory: float | None = None
    """GiB that the target may hold in memory; a share of the machine's unless given."""


def defaults() -> dict[str, str]:
    """What a worker finds in its environment unless the user has set it."""
    return {
        "OMP_WAIT_POLICY": "PASSIVE",  # spinning threads starve others on few cores
        "JAX_COMPILATION_CACHE_DIR": str(compilations()),  # most of a first run is compiling; the next need not
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }


def compilations() -> Path:
    """The folder in which JAX keeps what it has compiled: this user's, on this machine."""
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # no home
        home = tempfile.gettempdir()
    return Path(home) / "attnspec" / "jax" / platform.node()


PLACE = 10.0
"""Seconds that a worker has to say where it is; writing a core dump counts."""

WEIGHED = 0.1
"""So many seconds at least lie between two looks at a worker's memory."""


class Child:
    """One worker. Use it in a ``with`` statement: it is gone afterwards, with all that it started."""

    def __init__(
        self,
        job: "DataclassInstance",
        patterns: list[str],
        deadly: dict[str, str],
        steps: Sequence[list[str]] = (),
        worker: str = "attnspec.worker",
        memory: float | None = None,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="attnspec-"))
        self.crumb = str(self.folder / "crumb")
        Path(self.crumb).touch()
        request = {**asdict(job), "patterns": patterns, "deadly": deadly, "crumb": self.crumb, "steps": steps}
        with (self.folder / "stderr").open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", worker],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                env={**defaults(), **os.environ},
            )
        self.memory, self.weighed = share(1) if memory is None else memory, time.monotonic()
        self.lines: queue.Queue[bytes] = queue.Queue()
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()
        self.send(request)

    def send(self, request: dict[str, Any]) -> None:
        """The request, or an order; nothing if the process is gone."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)

    def event(self, seconds: float) -> dict[str, Any] | None:
        """The next event, or None if none comes in time."""
        try:
            event: dict[str, Any] = json.loads(self.lines.get(timeout=seconds))
        except (queue.Empty, json.JSONDecodeError):
            return None
        return event

    @property
    def dead(self) -> bool:
        """Whether the process has ended and nothing of what it said is left."""
        if self.process.poll() is None:
            return False
        self.listener.join(1)  # until all is read; longer only if a process of its own keeps the pipe open
        return self.lines.empty()

    @property
    def calls(self) -> int:
        """How many calls it has noted so far."""
        return crumb.count(self.crumb)

    @property
    def greedy(self) -> bool:
        """Whether it holds more memory than it may."""
        now = time.monotonic()
        if now - self.weighed < WEIGHED:
            return False
        self.weighed = now
        return resident(self.process.pid) > self.memory * GIB

    def note(self) -> crumb.Note | None:
        """What it was doing last."""
        return next(iter(self.history()[-1:]), None)

    def history(self) -> list[crumb.Note]:
        """What it was doing, the latest at the end, as far back as is kept."""
        return crumb.history(self.crumb)

    @property
    def killed(self) -> bool:
        """Whether a signal ended it."""
        return self.process.wait() < 0

    def ending(self) -> str:
        """How it ended: by a signal, or with an exit code."""
        code = self.process.wait()
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def stop(self) -> None:
        """Ask for the place where it is, then end it; on a busy machine the answer takes its time."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGABRT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(PLACE)

    def place(self, name: str) -> str:
        """Where it was when it ended, as far as faulthandler could tell: best in the file called ``name``."""
        text = (self.folder / "stderr").read_text(errors="replace")
        frames = [match for match in FRAME.finditer(text) if "attnspec/worker" not in match["file"]]
        inside = [match for match in frames if Path(match["file"]).stem == name]
        return next((f" at {Path(m['file']).name}, line {m['line']}" for m in [*inside, *frames]), "")

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.listener.join(1)
        for pipe in (self.process.stdin, None if self.listener.is_alive() else self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        for file in self.folder.iterdir():
            file.unlink()
        self.folder.rmdir()
