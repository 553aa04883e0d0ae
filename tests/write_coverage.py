"""Writes docs/coverage.md: which public reports the suite covers, by which mutants and controls.

Run ``python tests/write_coverage.py`` after a change to a mutant, a control or ``specs/reports.py``.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnspec.specs.reports import CLASSES, REPORTS, UNCOVERED, Report

TESTS = Path(__file__).parent
FILE = TESTS.parent / "docs" / "coverage.md"
CONTROLS = ("controls", "mutants/correct")


@dataclass(frozen=True)
class Planted:
    """A mutant, or a control where ``killed_by`` is "", as its file says without being imported."""

    name: str
    killed_by: str
    reports: tuple[str, ...]


def planted(folder: str) -> list[Planted]:
    """Every mutant or control of a folder of tests/."""
    return [_read(path) for path in sorted((TESTS / folder).glob("[!_]*.py"))]


def _read(path: Path) -> Planted:
    constants: dict[str, Any] = {}
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if name in ("KILLED_BY", "REPORTS"):
                constants[name] = ast.literal_eval(statement.value)
    return Planted(path.stem, constants.get("KILLED_BY", ""), tuple(constants.get("REPORTS", ())))


def document() -> str:
    """The text of docs/coverage.md."""
    mutants, controls = planted("mutants"), [each for folder in CONTROLS for each in planted(folder)]
    classes = (line for c in CLASSES for line in _class(c, mutants, controls))
    return "\n".join([*_head(mutants, controls), *classes, *_layers(planted("mutants/layers"))])


def _head(mutants: list[Planted], controls: list[Planted]) -> Iterator[str]:
    faults = [id for id, report in REPORTS.items() if report.kind is None]
    covered = [id for id in faults if _naming(id, mutants)]
    silent = [id for id in REPORTS if id not in faults and _naming(id, controls)]
    unreported = sum(not each.reports for each in mutants)
    yield "# Coverage of the public reports"
    yield ""
    yield "Written by `python tests/write_coverage.py`; a test fails when it is out of date."
    yield ""
    yield f"{len(REPORTS)} public reports in {len(CLASSES)} classes (`specs/reports.py`), {len(faults)} of them faults."
    yield f"Mutants stand for {len(covered)} of those. {len(REPORTS) - len(faults)} are no faults of attention;"
    yield f"controls, which must pass, stand for {len(silent)} of those. {len(UNCOVERED)} reports are not covered."
    yield f"{len(mutants)} mutants, of which {unreported} stand for no report, and {len(controls)} controls."
    yield ""
    yield "| class | reports | covered | controls | not covered |"
    yield "| --- | --- | --- | --- | --- |"
    for letter, title in CLASSES.items():
        ids = [id for id in REPORTS if id[0] == letter]
        kinds = Counter(_kind(id) for id in ids)
        counts = f"{kinds['covered']} | {kinds['control']} | {kinds['not covered']}"
        yield f"| {letter}. {title} | {len(ids)} | {counts} |"


def _layers(mutants: list[Planted]) -> Iterator[str]:
    """The reports on layers, which have no ids: what stands for each."""
    reports = sorted({report for each in mutants for report in each.reports})
    unreported = sum(not each.reports for each in mutants)
    yield from ("", "## Layers", "")
    yield f"{len(mutants)} mutants stand for {len(reports)} public reports on layers; {unreported} stand for no report."
    yield ""
    yield "| report | mutant → the invariant that kills it |"
    yield "| --- | --- |"
    for report in reports:
        killed = (f"`{each.name}` → `{each.killed_by}`" for each in mutants if report in each.reports)
        yield f"| [{report}](https://github.com/{report.replace('#', '/issues/')}) | {', '.join(killed)} |"


def _kind(id: str) -> str:
    if id in UNCOVERED:
        return "not covered"
    return "control" if REPORTS[id].kind else "covered"


def _class(letter: str, mutants: list[Planted], controls: list[Planted]) -> Iterator[str]:
    yield from ("", f"## {letter}. {CLASSES[letter]}", "")
    yield "| id | report | symptom | mutant → the invariant that kills it |"
    yield "| --- | --- | --- | --- |"
    for id, report in REPORTS.items():
        if id[0] == letter:
            cells = (id, f"[{report.link}]({report.url})", report.symptom, _answer(id, report, mutants, controls))
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _answer(id: str, report: Report, mutants: list[Planted], controls: list[Planted]) -> str:
    if id in UNCOVERED:
        return f"{f'{report.kind}; ' if report.kind else ''}not covered: {UNCOVERED[id]}"
    if report.kind:
        return f"{report.kind}; control " + ", ".join(f"`{each.name}`" for each in _naming(id, controls))
    return "<br>".join(f"`{each.name}` → `{each.killed_by}`" for each in _naming(id, mutants))


def _naming(id: str, some: list[Planted]) -> list[Planted]:
    return [each for each in some if id in each.reports]


def main() -> None:
    """Write the file."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(document() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
