"""``attnspec list``: every backend, what it claims, or why it is unavailable."""

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from attnspec.loading import load
from attnspec.targets import backend_names, expanded
from attnspec.text import say
from attnspec.verdict import about, versions_of
from attnspec.wording import unclaimed


def listing(targets: tuple[str, ...], as_json: bool) -> int:
    """Print what is known of the targets, all in-tree backends if there are none; 2 if a given one does not load."""
    entries = [entry(target) for target in expanded(targets) or backend_names()]
    if as_json:
        print(json.dumps(entries, indent=1))
    else:
        console = Console()
        for item in entries:
            show(console, item)
    return 2 if any("error" in item and item["target"] in targets for item in entries) else 0


def entry(target: str) -> dict[str, Any]:
    """The target's description, or its name and the error."""
    try:
        with contextlib.redirect_stdout(sys.stderr):  # a file may print while it is imported
            return {"target": target, **about(load(target))}
    except ValueError as error:
        return {"target": target, "name": target, "error": str(error).removeprefix(f"{target}: ")}


def show(console: Console, item: dict[str, Any]) -> None:
    """A headline and indented lines."""
    if "error" in item:
        console.print(Text.assemble((item["name"], "bold"), "  unavailable: ", (item["error"], "red")), soft_wrap=True)
        return
    versions = " · ".join(f"{name} {version}" for name, version in versions_of(item).items())
    head = f"  {versions} · {', '.join(item['devices'])} · {', '.join(item['dtypes'])}"
    console.print(Text.assemble((item["name"], "bold"), head), soft_wrap=True)
    for name, text in details(item):
        say(console, f"  {name:12}{text}", hang=12)


def details(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What there is to say, beyond defaults."""
    yield "features", ", ".join(item["features"])
    if item["lacks"]:
        yield "lacks", ", ".join(item["lacks"])
    chosen = (f"{name}={value}" for name, value in item["chosen"].items())
    yield "conventions", ", ".join(chosen) or "all default"
    if item["kernel"]:
        yield "kernel", item["kernel"]
    for keyword, meant in item["unclaimed"].items():
        yield "unclaimed", unclaimed(keyword, meant)
    for issue, reason in item["known_issues"].items():
        yield "known issue", f"{issue}: {reason}"
