"""What is said of a verdict, in plain lines: the report, the exports and the pytest tests say the same."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attnspec.child import Job
from attnspec.specs.durations import KINDS
from attnspec.specs.outcome import FAILED, KNOWN, NEVER_RAN, NOT_CLAIMED, PASSED
from attnspec.verdict import CRASHED, HUNG, NOT_RUN, Row, Verdict


def failure_lines(row: Row, job: Job) -> Iterator[str]:
    """What is to be said of a violation, line by line, in the end the command that shows it again."""
    yield row.sentence
    if row.reason and row.status == FAILED:
        yield row.reason
    if row.trouble is None:
        yield replay_command(row, job)
        return
    yield from row.trouble.message.splitlines()
    if row.trouble.problem:
        smallest = "smallest problem: " if row.status == FAILED and not job.vectors else ""
        yield f"{smallest}{row.trouble.problem[0]}"
    yield from (f"  {line}" for line in row.trouble.problem[1:])
    yield replay_command(row, job)


def distinct(rows: Iterable[Row]) -> list[tuple[Row, list[str]]]:
    """Each violation, with the ids of later ones that likely show one fault.

    Those are the ones with the same smallest problem, and all on which what came had not even the right sizes.
    """
    first: dict[str, tuple[Row, list[str]]] = {}
    for row in (row for row in rows if row.broken):
        key = _kind(row)
        if key in first:
            first[key][1].append(row.invariant)
        else:
            first[key] = (row, [])
    return list(first.values())


def _kind(row: Row) -> str:
    """The same for rows that are likely one fault: one smallest problem, or golden vectors that suggest one thing."""
    if row.trouble is None:
        return row.invariant
    if row.is_vector:
        return row.reason.partition(", or ")[0] or row.trouble.message
    if row.trouble.malformed:
        return "malformed"
    return row.trouble.case if row.status == FAILED else row.invariant


def replay_command(row: Row, job: Job) -> str:
    """One command for a POSIX shell that shows just this failure again."""
    words = ["attnspec", "verify", job.target, "--only", row.invariant]
    words += ["--device", job.device] if job.device else []
    words += ["--timeout", f"{job.timeout:g}"] if row.status == HUNG else []
    if job.vectors:
        return shlex.join([*words, "--vectors"])
    if job.layers:
        return shlex.join([*words, "--layers", *(["--seed", str(job.seed)] if job.seed else [])])
    words += ["--problem", row.trouble.case] if row.trouble and row.trouble.case else _whole(job)
    return shlex.join(words)


def _whole(job: Job) -> list[str]:
    """What repeats all problems of a run where there is no one problem to show."""
    return ["--profile", job.profile, *(["--seed", str(job.seed)] if job.seed else [])]


SIGNS = {
    PASSED: "✓",
    FAILED: "✗",
    CRASHED: "✗",
    HUNG: "✗",
    KNOWN: "k",
    NOT_CLAIMED: "–",
    NEVER_RAN: "!",
    NOT_RUN: "!",
}


def notes(verdict: Verdict) -> Iterator[str]:
    """Known issues, seen or not, and what did not run, those of one reason together."""
    for keyword, meant in verdict.about.get("unclaimed", {}).items():
        yield f"! {verdict.name}: {unclaimed(keyword, meant)}"
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in verdict.rows:
        if row.status in (KNOWN, NEVER_RAN, NOT_RUN) or (row.reason and row.status == PASSED):
            reasons.setdefault((row.status, row.reason), []).append(row.invariant)
    for (status, reason), ids in reasons.items():
        shown = ", ".join(ids) if len(ids) <= 3 else f"{len(ids)} {verdict.unit}s"
        because = reason or "no problem that the backend claims is about it"
        yield f"{SIGNS[status]} {status}: {shown} · {verdict.name}: {because}"


def unclaimed(keyword: str, meant: str) -> str:
    """That a parameter which seems to be meant is none of the contract's, so that it is never tried."""
    if keyword.startswith("**"):
        return f"`{keyword}` claims nothing: name the keywords of the contract that are taken"
    return f"`{keyword}` is no keyword of the contract, so it is not tried; did you mean `{meant}`?"


SLOWEST = 5
"""So many invariants are named with their time."""


def duration_lines(name: str, verdict: Verdict) -> Iterator[str]:
    """Where the time went: in all, and for the slowest invariants; nothing if it was not measured."""
    if not any(row.parts for row in verdict.rows):
        return
    spent: Counter[str] = Counter()
    for row in verdict.rows:
        spent.update(row.parts)
    yield f"{name}: {verdict.seconds:.1f} s: {_shares(spent, verdict.seconds)}"
    for row in sorted(verdict.rows, key=lambda row: -row.seconds)[:SLOWEST]:
        yield f"  {row.invariant} {row.seconds:.2f} s: {_shares(row.parts, row.seconds)}"


def _shares(parts: Mapping[str, float], total: float) -> str:
    """Seconds by kind of work, and what is left."""
    known = [f"{kind} {parts[kind]:.2f}" for kind in KINDS if kind in parts]
    return ", ".join([*known, f"rest {max(total - sum(parts.values()), 0):.2f}"])


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


def judgement(verdict: Verdict) -> str:
    """Whether it conforms, and if not, why not."""
    broken = sum(row.broken for row in verdict.rows)
    if verdict.error:
        return f"could not be verified: {verdict.error.removeprefix(f'{verdict.target}: ')}"
    if verdict.exit_code == 0:
        return "conforms"
    if verdict.vacuous:
        return "could not be verified: it has nothing that the invariants asked for are about"
    violates = f"violates {broken} {verdict.unit}{'s' * (broken != 1)}" if broken else ""
    if verdict.exit_code == 1:
        return violates
    return ", ".join(filter(None, ("could not be verified completely", violates)))


def tally(verdict: Verdict) -> str:
    """How many rows held, on how many problems, in what time, and how close the results came to the bound."""
    held = sum(row.status == PASSED for row in verdict.rows)
    claimed = sum(row.status != NOT_CLAIMED for row in verdict.rows)
    problems = sum(row.problems for row in verdict.rows)
    worst: dict[str, float] = {}
    for row in verdict.rows:
        for dtype, ratio in row.worst.items():
            worst[dtype] = max(worst.get(dtype, 0.0), float(ratio))
    parts = [f"{held} of {claimed} {verdict.unit}s hold", f"{problems} problems", f"{verdict.seconds:.1f} s"]
    accuracy = ", ".join(f"{dtype} {ratio:.2g}" for dtype, ratio in sorted(worst.items()))
    return " · ".join([*parts, *([f"err/bound {accuracy}"] if accuracy else [])])


def ran(verdict: Verdict) -> str:
    """Which kernels ran, on how many of the problems that were watched; nothing if none tell."""
    counted = sorted(verdict.about.get("ran", {}).items(), key=lambda item: -item[1])
    return ", ".join(f"{kernel} ran on {count} problem{'s' * (count != 1)}" for kernel, count in counted)
