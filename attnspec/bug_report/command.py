"""``attnspec bug-report``: a script and a text for each failure asked for."""

import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from attnspec.bug_report.failing import Elsewhere, Nothing, failure
from attnspec.bug_report.script import script
from attnspec.bug_report.text import head, markdown
from attnspec.child import Job
from attnspec.specs.contract import device_and_id, read_declaration
from attnspec.targets import find, short_name

ALONE = """
import runpy, sys
sys.modules["attnspec"] = None  # cannot be imported
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a script as if there were no attnspec."""

SECONDS = 120
"""A script that runs longer is none."""


def bug_report(job: Job, key: str | None, every: bool, out: Path) -> int:
    """Write what is asked for into ``out``; 2 if there is nothing to report, or something could not be."""
    if every == (key is not None):
        came = "both" if every else "neither"
        raise ValueError(f"bug-report: wanted --invariant or --all, came {came}")
    if key is not None:
        _say(one(_looking_at(job, [key]), key, out))
        return 0
    issues = list(read_declaration(vars(find(job.target))).known_issues)
    if not issues:
        raise Nothing(f"{job.target}: wanted KNOWN_ISSUES to report, came none")
    job = _looking_at(job, issues)
    return max(_one_of_all(job, issue, out) for issue in issues)


def _looking_at(job: Job, keys: Sequence[str]) -> Job:
    """The job with the invariants that the keys name."""
    ids = (device_and_id(key)[1] for key in keys)
    return replace(job, patterns=tuple(id for id in ids if "." in id))


def _one_of_all(job: Job, issue: str, out: Path) -> int:
    try:
        _say(one(job, issue, out))
    except ValueError as error:
        click.echo(f"attnspec: {error}", err=True)
        return 0 if isinstance(error, Elsewhere) else 2
    return 0


def one(job: Job, key: str, out: Path) -> Path:
    """The script for one failure, which has been seen to show it. ValueError if there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the target warns of is neither the command's to tell nor a failure
        found, module = failure(job, key), find(job.target)
    text = script(found, module, head(found, module))
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{short_name(job.target)}.{key}.py"
    path.write_text(text, encoding="utf-8")
    try:
        told = shown(path)
    except ValueError:
        path.unlink()
        raise
    path.with_suffix(".md").write_text(markdown(found, module, text, told), encoding="utf-8")
    return path


def shown(path: Path) -> str:
    """What the script prints. ValueError if it does not exit with 1 in a process of its own."""
    with tempfile.TemporaryDirectory() as elsewhere:
        command = [sys.executable, "-P", "-c", ALONE, str(path.resolve())]
        try:
            done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise ValueError(f"{path}: wanted a script that shows the failure, came none in {SECONDS} s") from None
    if done.returncode != 1 or "The bug shows." not in done.stdout:
        came = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise ValueError(f"{path}: wanted a script that shows the failure, came exit code {done.returncode}: {came}")
    return done.stdout.strip()


def _say(path: Path) -> None:
    click.echo(f"{path} shows it; {path.with_suffix('.md').name} tells of it")
