"""``attnspec probe``: what the experiments show, and the adapter to start from."""

import ast
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console

from attnspec.errors import modules_of, one_of
from attnspec.probing.outside import probed
from attnspec.probing.printing import show
from attnspec.probing.request import Request
from attnspec.specs.contract import CONVENTIONS, OPTIONS, nearest


def probe(
    target: str,
    arrays: tuple[str, ...],
    settings: tuple[str, ...],
    given: tuple[str, ...],
    out: Path | None,
    explain: bool,
    timeout: float,
) -> int:
    """Print the findings and write the adapter; 0: all is told, 1: something could not be told."""
    for name in arrays:
        one_of("--arrays", name, modules_of("attnspec.impls.arrays"))
    request = Request(target, arrays, _pairs("--set-arg", given), told(settings), None if out is None else str(out))
    found, source = probed(request, timeout)
    show(Console(stderr=out is None), target, found, explain)
    if out is None:
        sys.stdout.write(source)
    else:
        out.write_text(source)
    return 0 if all(finding.told for finding in found) else 1


def told(settings: Iterable[str]) -> dict[str, Any]:
    """What the user says: a convention's value, or the parameter that takes an option. ValueError for anything else."""
    said = _pairs("--set", settings)
    for name, value in said.items():
        if name in CONVENTIONS:
            one_of(f"--set {name}", str(value), map(str, CONVENTIONS[name]))
            said[name] = next(choice for choice in CONVENTIONS[name] if str(choice) == str(value))
        elif name not in OPTIONS:
            hint = nearest(name, (*CONVENTIONS, *OPTIONS))
            raise ValueError(f"--set: wanted a convention or an option of the contract, came {name!r}{hint}")
    return said


def _pairs(option: str, texts: Iterable[str]) -> dict[str, Any]:
    """NAME=VALUE, the value a Python literal or else a word."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ValueError(f"{option}: wanted NAME=VALUE, came {text!r}")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found
