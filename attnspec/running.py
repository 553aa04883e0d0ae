"""``attnspec verify``: the targets' runs side by side, a progress bar, the reports."""

import contextlib
import dataclasses
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import attnspec.layers
from attnspec.api import named_profile
from attnspec.blame import Listener
from attnspec.child import Job
from attnspec.export import write_json, write_junit
from attnspec.isolate import verify
from attnspec.memory import share
from attnspec.report import report
from attnspec.specs.recipe import read_case
from attnspec.specs.verify import chosen
from attnspec.targets import expanded, short_name
from attnspec.vectors import expected
from attnspec.verdict import Verdict

PATIENCE = {"thorough": 6000.0}
"""Seconds for a target, by profile."""


def run(
    targets: tuple[str, ...],
    profile: str,
    seed: int,
    device: str | None,
    dtypes: tuple[str, ...],
    patterns: tuple[str, ...],
    problem: str | None,
    vectors: bool,
    layers: bool,
    json_file: str | None,
    junit_file: str | None,
    durations: bool,
    jobs: int,
    timeout: float | None,
    memory: float | None,
) -> int:
    """Verify the targets and report; the exit code is the gravest."""
    named_profile(profile)
    check(patterns, problem, vectors, layers, dtypes)
    case = None if problem is None else read_problem(problem, patterns)
    seconds = timeout or PATIENCE.get(profile, 600.0)
    job = Job(
        "", profile, patterns, device, dtypes, case, vectors, seconds, seed, durations, layers, memory or share(jobs)
    )
    work = [dataclasses.replace(job, target=target) for target in expanded(targets)]
    with _opened(json_file) as json_to, _opened(junit_file) as junit_to:
        verdicts = verify_all(work, jobs)
        if json_to:
            write_json(json_to, verdicts, work)
        if junit_to:
            write_junit(junit_to, verdicts, work)
    report(Console(stderr="-" in (json_file, junit_file)), verdicts, work)
    counted = [verdict for verdict in verdicts if verdict.target in targets or not verdict.unavailable]
    return max((verdict.exit_code for verdict in counted), default=2)


def check(
    patterns: tuple[str, ...], problem: str | None, vectors: bool, layers: bool = False, dtypes: tuple[str, ...] = ()
) -> None:
    """ValueError for a pattern that matches nothing, and for options that exclude each other."""
    if layers:
        if vectors or problem is not None:
            other = "--vectors" if vectors else "--problem"
            raise ValueError(f"--layers: wanted it without {other}, which is of attention alone, came both")
        attnspec.layers.expected(patterns)
        attnspec.layers.check_dtypes(dtypes)
        return
    if not vectors:
        chosen(patterns)
        return
    if problem is not None:
        raise ValueError("--problem: wanted invariants to replay, came --vectors, which have problems of their own")
    expected(patterns)


def read_problem(text: str, patterns: tuple[str, ...]) -> str:
    """The problem's JSON, from a file unless it is JSON itself. ValueError if it is none."""
    if not patterns:
        raise ValueError("--problem: wanted --only with the invariants to replay, came none")
    if not text.lstrip().startswith(("{", "[")):
        text = _content(Path(text))
    read_case(text)
    return text


def _content(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--problem: wanted JSON or a file with JSON, came {str(path)!r:.80} ({error})") from error


def verify_all(work: list[Job], at_once: int) -> list[Verdict]:
    """The verdicts, in order; an interrupt ends every process before it goes on."""
    stopped = threading.Event()
    with _progress(work) as listeners, ThreadPoolExecutor(at_once) as pool:
        futures = [pool.submit(verify, job, listen, stopped) for job, listen in zip(work, listeners, strict=True)]
        try:
            return [future.result() for future in futures]
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise


@contextlib.contextmanager
def _progress(work: list[Job]) -> Iterator[list[Listener]]:
    """A bar for each target on standard error, if somebody watches; what each run is to tell of its rows."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield [_listener(progress, job) for job in work]


def _listener(progress: Progress, job: Job) -> Listener:
    task = progress.add_task(short_name(job.target), total=None, start=False)

    def listen(verdict: Verdict, total: int) -> None:
        progress.start_task(task)
        progress.update(task, total=total, completed=len(verdict.rows))

    return listen


@contextlib.contextmanager
def _opened(name: str | None) -> Iterator[TextIO | None]:
    """The file to write, opened before the work begins, so that a bad path is told at once."""
    if name is None or name == "-":
        yield None if name is None else sys.stdout
        return
    with open(name, "w", encoding="utf-8", errors="replace") as file:  # names of files need not be text
        yield file
