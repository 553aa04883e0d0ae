"""``attnspec bench``: every workload's contest, a progress bar, the result file and the tables."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from attnspec.benchmarks import tables
from attnspec.benchmarks.contest import FAILED, FELL_BACK, OK, WRONG, Entry, Limits, Listener, contest
from attnspec.benchmarks.machine import Machine
from attnspec.benchmarks.results import Document, document
from attnspec.benchmarks.run import run_of
from attnspec.benchmarks.workloads import QUICK, Workload, chosen
from attnspec.errors import one_of
from attnspec.targets import expanded, names_of, own_names
from attnspec.verdict import plain

INTERRUPTED = 130

QUICK_ROUNDS = 3
"""Of ``--quick``."""


@dataclass
class Bench:
    """What is to be timed, and what has been found so far."""

    targets: Sequence[str]
    workloads: Sequence[Workload]
    limits: Limits
    entries: list[Entry] = field(default_factory=list)
    machine: Machine = field(default_factory=Machine)
    interrupted: bool = False

    def run(self, write: Callable[[Document], None]) -> None:
        """All workloads, each written as soon as it is finished, for whatever may end this process."""
        try:
            with _progress(self) as listen:
                for workload in self.workloads:
                    self.machine.measure(workload.dtype)
                    self.entries += contest(workload, self.targets, self.limits, listen)
                    write(document(self.entries, self.machine))
        except KeyboardInterrupt:
            self.interrupted = True

    @property
    def exit_code(self) -> int:
        """0 if something was timed and all was right; 1 if something was not right; 2 if nothing was timed."""
        if self.interrupted:
            return INTERRUPTED
        if any(entry.status in (WRONG, FELL_BACK, FAILED) for entry in self.entries):
            return 1
        return 0 if any(entry.status == OK for entry in self.entries) else 2


def bench(
    targets: tuple[str, ...],
    patterns: tuple[str, ...],
    dtypes: tuple[str, ...],
    quick: bool,
    rounds: int | None,
    timeout: float,
    memory: float | None,
    json_file: Path | None,
    baseline: str | None,
    reach: bool,
) -> int:
    """Time the targets on the workloads, print tables and write the file. ValueError for what is none of these."""
    import pytest_benchmark  # noqa: F401  # before the work: without it nothing could be written

    if reach and (targets or patterns or dtypes or quick):
        others = "TARGET, --workload, --dtype and --quick"
        raise ValueError(f"--targets: wanted it without {others}, for it has its own, came both")
    names = tuple(dict.fromkeys(expanded(targets))) or own_names()  # one that is given twice is timed once
    workloads = chosen(patterns or (QUICK if quick else ()), dtypes)
    if reach:
        from attnspec.benchmarks.targets import BACKENDS, WORKLOADS

        names, workloads = BACKENDS, chosen(WORKLOADS)
    if baseline is not None:
        one_of("--baseline", baseline, names_of(names))
    this = Bench(names, workloads, Limits(rounds or (QUICK_ROUNDS if quick else Limits.rounds), timeout, memory))
    with _written(json_file) as write:
        this.run(write)
        found = document(this.entries, this.machine)
        write(found)
        tables.show(run_of(found), baseline)
        if reach and not this.interrupted:
            write(_reached(found))
    if this.interrupted:
        click.echo(f"attnspec: interrupted; what is finished of {len(workloads)} workloads is kept", err=True)
    return this.exit_code


def _reached(found: Document) -> Document:
    """The run with the table of targets, which is printed too."""
    from attnspec.benchmarks.targets import show, targets

    reached = targets(run_of(found))
    show(reached)
    return {**found, "goals": [target.as_dict() for target in reached]}


@contextmanager
def _written(file: Path | None) -> Iterator[Callable[[Document], None]]:
    """What writes a run into the file, which is opened before the work begins, so that a bad path is told at once."""
    if file is None:
        yield lambda run: None
        return
    new = not file.exists()
    try:
        with _open(file) as stream:

            def write(run: Document) -> None:
                stream.truncate(0)
                stream.write(json.dumps(plain(run), indent=1, ensure_ascii=False) + "\n")
                stream.flush()

            yield write
    finally:
        if new and file.exists() and not file.stat().st_size:  # nothing came of the work
            file.unlink()


def _open(file: Path) -> TextIO:
    """The file with all that is in it. ValueError for one that cannot be written, or emptied to be written again."""
    if file.exists() and not file.is_file():
        raise ValueError(f"--json: wanted a file to write, came {str(file)!r} (no regular file)")
    try:
        return file.open("a", encoding="utf-8", errors="replace")  # names of files need not be text
    except OSError as error:
        raise ValueError(f"--json: wanted a file to write, came {str(file)!r} ({error.strerror})") from error


@contextmanager
def _progress(this: Bench) -> Iterator[Listener]:
    """A bar on standard error, if somebody watches, with the time left."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        answers = this.limits.rounds + 1
        task = progress.add_task("", total=sum(map(_weight, this.workloads)) * len(this.targets))

        def listen(entry: Entry) -> None:
            share = 1 if entry.status == OK else answers - len(entry.seconds)
            progress.update(task, description=entry.name, advance=_weight(entry.workload) * share / answers)

        yield listen


def _weight(workload: Workload) -> float:
    """About how long a backend's answers take, in some unit."""
    sizes = workload.batch * workload.heads * workload.queries * workload.keys * workload.width
    return 1e9 + sizes * (14 if workload.backward else 4)
