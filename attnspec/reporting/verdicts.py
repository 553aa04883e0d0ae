"""What the page shows of runs of ``verify``: the table of conformance, failures to open, the kill matrix."""

from collections.abc import Iterator, Sequence
from typing import Any

from attnspec.child import Job
from attnspec.conformance.cells import families, table
from attnspec.conformance.markdown import convention_mark, family_mark
from attnspec.conformance.runs import Entry
from attnspec.specs.contract import CONVENTIONS
from attnspec.specs.outcome import FAILED, KNOWN, NEVER_RAN, PASSED
from attnspec.verdict import NOT_RUN, Row, row_from
from attnspec.wording import distinct, failure_lines

Item = dict[str, Any]

KINDS = ((FAILED, "violated"), (NOT_RUN, "unsure"), (NEVER_RAN, "unsure"), (KNOWN, "known"), (PASSED, "held"))
"""What a family is called whose invariants came out so, the gravest first."""


def implementations(entries: Sequence[Entry]) -> list[Item]:
    """The rows of the table of conformance, with their marks and what the filters go by."""
    return [
        {
            **item,
            "status": status(item),
            "marks": {family: mark(counts) for family, counts in item["families"].items()},
            "choices": {name: choice(item["conventions"][name]) for name in CONVENTIONS},
            "problems": sum(row["problems"] for row in entry.target["outcomes"]),
            "seconds": entry.target["seconds"],
        }
        for entry, item in zip(entries, table(entries), strict=True)
    ]


def status(item: Item) -> str:
    """The verdict in a word or two."""
    if item["exit_code"] == 0:
        return "known issues" if any(KNOWN in counts for counts in item["families"].values()) else "conforms"
    return "violated" if item["exit_code"] == 1 else "not verified"


def mark(counts: dict[str, int]) -> tuple[str, str]:
    """The mark of a family as the table has it, and its kind."""
    kind = next((kind for status, kind in KINDS if counts.get(status)), "none")
    return family_mark(counts).replace("**", ""), kind


def choice(found: Item) -> tuple[str, str]:
    """The mark of a convention as the table has it, and its kind."""
    kinds = {"contradicted": "violated", "known issue": "known", "verified": "held"}
    return convention_mark(found).replace("**", ""), kinds.get(found.get("found", ""), "none")


def failures(entries: Sequence[Entry]) -> list[Item]:
    """Each violation with all that is said of it, the command that shows it again last."""
    return [failure for entry in entries for failure in _failures(entry)]


def _failures(entry: Entry) -> Iterator[Item]:
    job = Job(entry.target["target"], entry.target["profile"], seed=entry.target["seed"])
    for row, alike in distinct(rows(entry)):
        *lines, command = failure_lines(row, job)
        message = row.trouble.message if row.trouble else row.reason or row.status
        head = {"backend": entry.name, "invariant": row.invariant, "family": row.invariant.partition(".")[0]}
        told = {"message": message.partition("\n")[0], "alike": alike, "lines": lines, "command": command}
        yield head | told


def rows(entry: Entry) -> list[Row]:
    """The outcomes as rows."""
    return [row_from(row) for row in entry.target["outcomes"]]


def mutants(entries: Sequence[Entry]) -> list[Item]:
    """The rows of the kill matrix: how many invariants of each family kill a mutant, and which do."""
    found = []
    for entry in sorted(entries, key=lambda entry: entry.name):
        killers = [row.invariant for row in rows(entry) if row.broken]
        counts = {family: sum(id.startswith(f"{family}.") for id in killers) for family in families()}
        status = "killed" if killers else "survived" if entry.target["exit_code"] == 0 else "not verified"
        run = {"attnspec": entry.run["attnspec"], "date": entry.run["date"]}
        run |= {name: entry.target[name] for name in ("profile", "seed")}
        found.append({"name": entry.name, "status": status, "counts": counts, "killers": killers, "run": run})
    return found
