"""What a person reads after a run: a table, each failure with its smallest problem, what to declare, the verdicts."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from attnspec.child import Job
from attnspec.specs.catalogue import catalogue
from attnspec.specs.contract import OPTIONS
from attnspec.specs.layers.catalogue import layer_catalogue
from attnspec.specs.outcome import KNOWN, NOT_CLAIMED, PASSED
from attnspec.targets import told_apart
from attnspec.text import copyable, say
from attnspec.vectors import PLAIN, grouped, standing
from attnspec.verdict import Row, Verdict
from attnspec.wording import (
    SIGNS,
    declaration_lines,
    distinct,
    duration_lines,
    failure_lines,
    judgement,
    notes,
    ran,
    tally,
)

COLOURS = {PASSED: "green", KNOWN: "yellow", NOT_CLAIMED: "dim"}
"""Of signs; all others are bold red."""

LEGEND = "✓ holds   ✗ violated   k known issue   – not claimed   ! not run"


def report(console: Console, verdicts: Sequence[Verdict], jobs: Sequence[Job]) -> None:
    """Everything, the most important at the end."""
    if any(verdict.rows for verdict in verdicts):
        table(console, [verdict for verdict in verdicts if verdict.rows])
    for name, verdict in zip(unique_names(verdicts), verdicts, strict=True):
        for line in duration_lines(name, verdict):
            say(console, line)
    for verdict, job in zip(verdicts, jobs, strict=True):
        for row, alike in distinct(verdict.rows):
            failure(console, verdict, row, job, alike)
        for line in notes(verdict):
            say(console, line)
    for verdict in verdicts:
        declare(console, verdict)
    console.print()
    for name, verdict, job in zip(unique_names(verdicts), verdicts, jobs, strict=True):
        summary(console, name, verdict)
        if job.problem and verdict.exit_code == 0:
            say(console, "  on this problem alone: what a whole run alone shows depends on the calls before", "dim")


def table(console: Console, verdicts: Sequence[Verdict]) -> None:
    """Invariant × backend, or option × backend; numbers stand for backends where their names are too wide."""
    columns = [_column(verdict) for verdict in verdicts]
    seen = {id for column in columns for id in column}
    ids = [id for id in (*catalogue(), *layer_catalogue(), PLAIN, *OPTIONS) if id in seen]
    heads = unique_names(verdicts)
    widest = max(mark.cell_len for column in columns for mark in column.values())
    room = console.width - max(map(len, ids)) - 2
    if sum(max(len(head), widest) + 2 for head in heads) > room:
        for number, head in enumerate(heads, 1):
            say(console, f"{number:2}  {head}")
        heads = [str(number) for number in range(1, len(heads) + 1)]
    fit = max(room // (max(widest, *map(len, heads)) + 2), 1)
    for start in range(0, len(heads), fit):
        shown = slice(start, start + fit)
        _grid(console, "invariant" if "." in ids[0] else "option", ids, heads[shown], columns[shown])
    say(console, LEGEND, "dim")


def _grid(
    console: Console, corner: str, ids: Sequence[str], heads: Sequence[str], columns: Sequence[dict[str, Text]]
) -> None:
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in (corner, *heads):
        grid.add_column(Text(head), no_wrap=True)
    for id in ids:
        grid.add_row(Text(id), *(column.get(id, Text()) for column in columns))
    console.print(grid)


def _column(verdict: Verdict) -> dict[str, Text]:
    """The marks of a verdict: of each invariant, or of the golden vectors with each option, and how many they are."""
    if verdict.unit == "invariant":
        return {row.invariant: _sign(row.status) for row in verdict.rows}
    column = {}
    for group, rows in grouped(verdict).items():
        status, count = standing(rows)
        column[group] = _sign(status, f" {count}")
    return column


def _sign(status: str, behind: str = "") -> Text:
    return Text(SIGNS[status] + behind, COLOURS.get(status, "bold red"))


def unique_names(verdicts: Sequence[Verdict]) -> list[str]:
    """The backends' names; the targets where two have one name."""
    return told_apart([verdict.name for verdict in verdicts], [verdict.target for verdict in verdicts])


def failure(console: Console, verdict: Verdict, row: Row, job: Job, alike: Sequence[str] = ()) -> None:
    """The sentence, the smallest problem, what was wanted and what came, and the command that shows it again."""
    console.print()
    console.print(Text(f"✗ {row.invariant} · {verdict.name}", style="bold red"))
    *prose, command = failure_lines(row, job)
    for line in prose:
        say(console, f"  {line}")
    if alike and job.vectors:
        names = ", ".join(alike[:3])
        say(console, f"  alike: {names}" + f" and {len(alike) - 3} more" * (len(alike) > 3))
    elif alike:
        say(console, f"  likely the same fault: {', '.join(alike)}")
    copyable(console, f"  {command}", "cyan")


def declare(console: Console, verdict: Verdict) -> None:
    """The lines that would declare what the run found out, as they would stand in the file."""
    lines = list(declaration_lines(verdict))
    if lines:
        console.print()
        say(console, f"If that is how {verdict.name} is meant to be, declare:", "bold yellow")
    for line in lines:
        copyable(console, f"  {line}")


def summary(console: Console, name: str, verdict: Verdict) -> None:
    """The verdict in a line, and what it rests on."""
    style = {0: "bold green", 1: "bold red", 2: "bold red"}[verdict.exit_code]
    console.print(Text.assemble((f"{name}: ", "bold"), (judgement(verdict), style)), soft_wrap=True)
    if verdict.rows:
        say(console, f"  {tally(verdict)}", "dim")
    if told := ran(verdict):
        say(console, f"  {told}", "dim")
