"""``attnspec explain``: the catalogue, that of layers included, and all about one invariant."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from attnspec.errors import one_of
from attnspec.specs.catalogue import Invariant, catalogue
from attnspec.specs.layers.catalogue import LayerInvariant, layer_catalogue
from attnspec.specs.reports import REPORTS
from attnspec.specs.verify import matches
from attnspec.text import say


def explain(pattern: str | None) -> int:
    """Print the invariants that match, in full; every one in a line without a pattern."""
    console = Console()
    known: dict[str, Invariant | LayerInvariant] = {**catalogue(), **layer_catalogue()}
    if pattern is None:
        for invariant in known.values():
            say(console, invariant.id, "bold")
            say(console, f"    {invariant.sentence}", hang=0)
        return 0
    found = [invariant for id, invariant in known.items() if matches(pattern, id)]
    if not found:
        one_of("invariant", pattern, known)  # raises: a pattern that is an id matches
    for invariant in found:
        _show(console, invariant)
    return 0


def _show(console: Console, invariant: Invariant | LayerInvariant) -> None:
    say(console, invariant.id, "bold")
    for line in lines(invariant) if isinstance(invariant, Invariant) else layer_lines(invariant):
        say(console, f"  {line}", hang=5)


def lines(invariant: Invariant) -> Iterator[str]:
    """Sentence, formula, source, the bugs it catches and its mutants."""
    yield invariant.sentence
    yield f"formula  {invariant.formula}"
    yield f"source   {invariant.source}"
    asks = sorted(invariant.needs | invariant.claims)
    if asks:
        yield f"asks for {', '.join(asks)}"
    if invariant.catches:
        yield "catches"
    for id in invariant.catches:
        report = REPORTS[id]
        yield f"  {id:4} {report.link}: {report.title}"
        yield f"       {report.symptom}"
        yield f"       {report.url}"
    if names := mutants(invariant.id):
        yield f"mutants  {', '.join(names)}"


def layer_lines(invariant: LayerInvariant) -> Iterator[str]:
    """The same for an invariant of layers, whose reports are told by their links."""
    yield invariant.sentence
    yield f"formula  {invariant.formula}"
    yield f"source   {invariant.source}"
    if invariant.catches:
        yield "catches"
    for report in invariant.catches:
        yield f"  https://github.com/{report.replace('#', '/issues/')}"
    if names := mutants(invariant.id):
        yield f"mutants  {', '.join(names)}"


def mutants(id: str) -> list[str]:
    """The mutants that the invariant must kill; read, not imported, for some need a framework."""
    spec = importlib.util.find_spec("attnspec.mutants")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    killed = re.compile(rf'^KILLED_BY = "{re.escape(id)}"', re.MULTILINE)
    files = (path for folder in folders for path in Path(folder).rglob("*.py"))
    return sorted(path.stem for path in files if killed.search(path.read_text()))
