"""What a person reads after a run: a table, each failure with its smallest problem, what to declare, the verdicts."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from attnspec.child import Job
from attnspec.specs.catalogue import catalogue
from attnspec.text import copyable, say
from attnspec.verdict import CRASHED, FAILED, HUNG, KNOWN, NEVER_RAN, NOT_CLAIMED, NOT_RUN, PASSED, Row, Verdict

MARKS = {
    PASSED: ("✓", "green"),
    FAILED: ("✗", "bold red"),
    CRASHED: ("✗", "bold red"),
    HUNG: ("✗", "bold red"),
    KNOWN: ("k", "yellow"),
    NOT_CLAIMED: ("–", "dim"),
    NEVER_RAN: ("!", "bold red"),
    NOT_RUN: ("!", "bold red"),
}
LEGEND = "✓ holds   ✗ violated   k known issue   – not claimed   ! not run"


def report(console: Console, verdicts: Sequence[Verdict], jobs: Sequence[Job]) -> None:
    """Everything, the most important at the end."""
    if any(verdict.rows for verdict in verdicts):
        table(console, [verdict for verdict in verdicts if verdict.rows])
    for verdict, job in zip(verdicts, jobs, strict=True):
        for row in verdict.rows:
            if row.broken:
                failure(console, verdict, row, job)
        for line in notes(verdict):
            say(console, line)
    for verdict in verdicts:
        declare(console, verdict)
    console.print()
    for name, verdict in zip(unique_names(verdicts), verdicts, strict=True):
        summary(console, name, verdict)


def table(console: Console, verdicts: Sequence[Verdict]) -> None:
    """Invariant × backend; numbers stand for the backends where their names are too wide."""
    seen = {row.invariant for verdict in verdicts for row in verdict.rows}
    ids = [id for id in catalogue() if id in seen]
    heads = unique_names(verdicts)
    room = console.width - max(map(len, ids)) - 2
    if sum(len(head) + 2 for head in heads) > room:
        for number, head in enumerate(heads, 1):
            say(console, f"{number:2}  {head}")
        heads = [str(number) for number in range(1, len(heads) + 1)]
    fit = max(room // (max(map(len, heads)) + 2), 1)
    for start in range(0, len(heads), fit):
        _grid(console, ids, heads[start : start + fit], verdicts[start : start + fit])
    say(console, LEGEND, "dim")


def _grid(console: Console, ids: Sequence[str], heads: Sequence[str], verdicts: Sequence[Verdict]) -> None:
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("invariant", *heads):
        grid.add_column(Text(head), no_wrap=True)
    rows = [{row.invariant: row for row in verdict.rows} for verdict in verdicts]
    for id in ids:
        grid.add_row(Text(id), *(_mark(by_id.get(id)) for by_id in rows))
    console.print(grid)


def unique_names(verdicts: Sequence[Verdict]) -> list[str]:
    """The backends' names; the targets where two have one name."""
    names = [verdict.name for verdict in verdicts]
    return [name if names.count(name) == 1 else v.target for name, v in zip(names, verdicts, strict=True)]


def _mark(row: Row | None) -> Text:
    mark, style = ("", "") if row is None else MARKS[row.status]
    return Text(mark, style=style)


def failure(console: Console, verdict: Verdict, row: Row, job: Job) -> None:
    """The sentence, the smallest problem, what was wanted and what came, and the command that shows it again."""
    console.print()
    console.print(Text(f"✗ {row.invariant} · {verdict.name}", style="bold red"))
    *prose, command = failure_lines(row, job)
    for line in prose:
        say(console, f"  {line}")
    copyable(console, f"  {command}", "cyan")


def failure_lines(row: Row, job: Job) -> Iterator[str]:
    """What is to be said of a violation, line by line, in the end the command that shows it again."""
    yield row.sentence
    if row.reason and row.status == FAILED:
        yield row.reason
    if row.trouble is None:
        yield replay_command(row, job)
        return
    yield row.trouble.message
    if row.trouble.problem:
        yield f"smallest problem: {row.trouble.problem[0]}" if row.status == FAILED else row.trouble.problem[0]
    yield from (f"  {line}" for line in row.trouble.problem[1:])
    yield replay_command(row, job)


def replay_command(row: Row, job: Job) -> str:
    """One command for a POSIX shell that shows just this failure again."""
    words = ["attnspec", "verify", job.target, "--only", row.invariant]
    words += ["--device", job.device] if job.device else []
    words += ["--timeout", f"{job.timeout:g}"] if row.status == HUNG else []
    words += ["--problem", row.trouble.case] if row.trouble and row.trouble.case else ["--profile", job.profile]
    return shlex.join(words)


def notes(verdict: Verdict) -> Iterator[str]:
    """Known issues, and what did not run, those of one reason together."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in verdict.rows:
        if row.status in (KNOWN, NEVER_RAN, NOT_RUN):
            reasons.setdefault((row.status, row.reason), []).append(row.invariant)
    for (status, reason), ids in reasons.items():
        shown = ", ".join(ids) if len(ids) <= 3 else f"{len(ids)} invariants"
        because = reason or "no problem that the backend claims is about it"
        yield f"{MARKS[status][0]} {status}: {shown} · {verdict.name}: {because}"


def declare(console: Console, verdict: Verdict) -> None:
    """The lines that would declare what the run found out, as they would stand in the file."""
    lines = list(declaration_lines(verdict))
    if lines:
        console.print()
        say(console, f"If that is how {verdict.name} is meant to be, declare:", "bold yellow")
    for line in lines:
        copyable(console, f"  {line}")


def declaration_lines(verdict: Verdict) -> Iterator[str]:
    """LACKS and CONVENTIONS, what is declared already and what would have to be."""
    troubles = [(row, row.trouble) for row in verdict.rows if row.trouble is not None and row.broken]
    lacks = [lack for row, trouble in troubles if row.invariant == "contract.claims" for lack in trouble.lacks]
    conventions: dict[str, Any] = {}
    for _, trouble in troubles:
        conventions |= trouble.conventions
    if lacks:
        names = dict.fromkeys([*verdict.about.get("lacks", ()), *lacks])
        yield "LACKS = {" + ", ".join(_quoted(name) for name in names) + "}"
    if conventions:
        merged = {**verdict.about.get("chosen", {}), **conventions}
        yield "CONVENTIONS = {" + ", ".join(f"{_quoted(n)}: {_quoted(v)}" for n, v in merged.items()) + "}"


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def summary(console: Console, name: str, verdict: Verdict) -> None:
    """The verdict in a line, and what it rests on."""
    style = {0: "bold green", 1: "bold red", 2: "bold red"}[verdict.exit_code]
    console.print(Text.assemble((f"{name}: ", "bold"), (judgement(verdict), style)), soft_wrap=True)
    if verdict.rows:
        say(console, f"  {tally(verdict)}", "dim")


def judgement(verdict: Verdict) -> str:
    """Whether it conforms, and if not, why not."""
    broken = sum(row.broken for row in verdict.rows)
    if verdict.error:
        return f"could not be verified: {verdict.error.removeprefix(f'{verdict.target}: ')}"
    if verdict.exit_code == 0:
        return "conforms"
    violates = f"violates {broken} invariant{'s' * (broken != 1)}" if broken else ""
    if verdict.exit_code == 1:
        return violates
    return ", ".join(filter(None, ("could not be verified completely", violates)))


def tally(verdict: Verdict) -> str:
    """How many invariants held, on how many problems, in what time, and how close the results came to the bound."""
    held = sum(row.status == PASSED for row in verdict.rows)
    claimed = sum(row.status != NOT_CLAIMED for row in verdict.rows)
    problems = sum(row.problems for row in verdict.rows)
    worst: dict[str, float] = {}
    for row in verdict.rows:
        for dtype, ratio in row.worst.items():
            worst[dtype] = max(worst.get(dtype, 0.0), float(ratio))
    parts = [f"{held} of {claimed} invariants hold", f"{problems} problems", f"{verdict.seconds:.1f} s"]
    accuracy = ", ".join(f"{dtype} {ratio:.2g}" for dtype, ratio in sorted(worst.items()))
    return " · ".join([*parts, *([f"err/bound {accuracy}"] if accuracy else [])])
