"""What stands in the table, as plain values: counted out of the rows of the runs, nothing by hand."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from attnspec.conformance.runs import Entry
from attnspec.specs.catalogue import catalogue
from attnspec.specs.contract import CONVENTIONS, DTYPES, default_conventions
from attnspec.specs.outcome import FAILED, KNOWN, PASSED
from attnspec.verdict import BROKEN, NOT_RUN


def families() -> list[str]:
    """The families of invariants, in the catalogue's order."""
    return list(dict.fromkeys(invariant.family for invariant in catalogue().values()))


def table(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """One object for each implementation."""
    return [implementation(entry) for entry in entries]


def implementation(entry: Entry) -> dict[str, Any]:
    """All that the table says of one."""
    about, rows = entry.target["backend"], entry.outcomes
    broken = {id: told(row) for id, row in rows.items() if row["status"] in BROKEN}
    return {
        "name": entry.name,
        "project": entry.project,
        "packages": entry.packages,
        "device": about.get("device", ""),
        "verdict": entry.target["verdict"],
        "exit_code": entry.target.get("exit_code"),
        "families": {family: counted(entry, family) for family in families()},
        "conventions": {name: convention(entry, name) for name in CONVENTIONS},
        "accuracy": accuracy(rows.values()),
        "violations": broken,
        "known_issues": about.get("known_issues", {}),
        "lacks": about.get("lacks", []),
        "run": {
            "attnspec": entry.run["attnspec"],
            "date": entry.run["date"],
            "python": entry.run["python"],
            "platform": entry.run["platform"],
            "profile": entry.target["profile"],
            "seed": entry.target["seed"],
        },
    }


def told(row: dict[str, Any]) -> str:
    """What was said of a violation, in a line."""
    trouble = row.get("trouble") or {}
    return str(row.get("reason") or trouble.get("message", "")).partition("\n")[0]


def counted(entry: Entry, family: str) -> dict[str, int]:
    """How many invariants of the family have each status, those left out."""
    rows = [row for id, row in entry.outcomes.items() if catalogue()[id].family == family]
    return dict(Counter(FAILED if row["status"] in BROKEN else row["status"] for row in rows))


def convention(entry: Entry, name: str) -> dict[str, Any]:
    """The declared value, whether it is the default, and what became of verifying it; none where nothing is known."""
    declared = entry.target["backend"].get("conventions", {})
    if name not in declared:
        return {}
    row = entry.outcomes.get(f"convention.{name}", {"status": NOT_RUN})
    found = {PASSED: "verified", KNOWN: "known issue", FAILED: "contradicted"}.get(row["status"], "not seen")
    return {"value": declared[name], "default": declared[name] == default_conventions()[name], "found": found}


def accuracy(rows: Iterable[dict[str, Any]]) -> dict[str, float]:
    """The largest error ÷ bound that was seen in each dtype."""
    worst: dict[str, float] = {}
    for row in rows:
        for dtype, ratio in row["worst"].items():
            worst[dtype] = max(worst.get(dtype, 0.0), float(ratio))
    return {dtype: worst[dtype] for dtype in DTYPES if dtype in worst}
