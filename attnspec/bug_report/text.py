"""What is said of a failure: at the head of its script, and in Markdown for a report."""

import platform
import textwrap
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

import numpy as np

from attnspec.bug_report.failing import Failure
from attnspec.bug_report.forms import Refuses
from attnspec.show import array_text, problem_lines
from attnspec.specs.contract import FUNCTIONS
from attnspec.specs.invariants.common import INPUTS


def standard(failure: Failure, module: ModuleType) -> tuple[str, str]:
    """The sentence that is not kept and where it stands: the framework's own, if the backend quotes it.

    ``DOCUMENTATION`` in the backend's module is {known issue, invariant's id or feature: (sentence, link)}.
    """
    quoted = getattr(module, "DOCUMENTATION", {})
    for name in (failure.key, failure.invariant.id, *sorted(failure.problem.features)):
        if name in quoted:
            sentence, link = quoted[name]
            return str(sentence), str(link)
    return failure.invariant.sentence, failure.invariant.source


def versions(failure: Failure, module: ModuleType) -> list[str]:
    """The packages that it was seen with, the interpreter and the platform."""
    backend = failure.backend
    told = {backend.declaration.arrays: backend.arrays.version()}
    for name in ("numpy", *getattr(module, "PACKAGES", ())):
        try:
            told.setdefault(name, version(name))
        except PackageNotFoundError:
            continue
    system = f"{platform.system()} {platform.machine()}"
    return [*(f"{n} {v}" for n, v in told.items()), f"Python {platform.python_version()}", system]


def head(failure: Failure, module: ModuleType) -> list[str]:
    """The script's docstring."""
    sentence, source = standard(failure, module)
    needed = " and ".join(
        dict.fromkeys([failure.backend.declaration.arrays, *getattr(module, "PACKAGES", ()), "numpy"])
    )
    return [
        *textwrap.wrap(f"{failure.backend.name}: not kept: {sentence}", 110),
        "",
        *textwrap.wrap(f"Source: {source}", 110),
        f"Seen with {', '.join(versions(failure, module))}.",
        f"Exit code 1: the bug shows; 0: it does not. Needs {needed}.",
    ]


def _input(failure: Failure) -> Iterator[str]:
    """The problem of the call that is looked at; of a malformed one the arguments, which have no sizes in common."""
    problem = failure.form.call.problem
    if failure.form.call.kind in FUNCTIONS:
        for slot, value in failure.form.call.given.items():
            name = slot if isinstance(slot, str) else f"argument {slot + 1}"
            yield f"{name} {array_text(value) if isinstance(value, np.ndarray) else f'= {value!r}'}"
        return
    if not isinstance(failure.form, Refuses):
        yield from problem_lines(problem)
        return
    for name, value in {**{each: getattr(problem, each) for each in INPUTS}, **problem.options}.items():
        yield f"{name} {array_text(value) if isinstance(value, np.ndarray) else f'= {value!r}'}"


def markdown(failure: Failure, module: ModuleType, script: str, told: str) -> str:
    """The report."""
    return "\n".join(_lines(failure, module, script, told)) + "\n"


def _lines(failure: Failure, module: ModuleType, script: str, told: str) -> Iterator[str]:
    sentence, source = standard(failure, module)
    yield f"# {failure.backend.name}: {failure.key}"
    yield from ("", (module.__doc__ or "").strip().splitlines()[0] if module.__doc__ else "")
    yield from ("", "**Wanted.**", "", f"> {sentence}", "", f"({source})")
    yield from ("", "**Came.**", "", "```", *failure.message.splitlines(), "", *told.splitlines(), "```")
    yield from ("", "**With the smallest input that has it.**", "", "```", *_input(failure), "```")
    issue = failure.backend.declaration.known_issues.get(failure.key.partition("+")[2] or failure.key)
    issue = issue or failure.backend.declaration.known_issues.get(failure.key)
    if issue:
        yield from ("", f"**Known.** {issue}")
    yield from ("", f"**Versions.** {', '.join(versions(failure, module))}.")
    yield from ("", "**Script.** Exit code 1: the bug shows; 0: it does not.", "", "```python", script.rstrip(), "```")
