"""Reading what ``attnspec verify --json`` wrote, and bringing several runs together."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnspec.json_file import check, numbers, opened
from attnspec.specs.catalogue import catalogue

RUN = {"attnspec": str, "date": str, "python": str, "platform": str, "targets": list}
"""What a file holds, with the types."""

NUMBER = (int, float)

TARGET = {
    "target": str,
    "profile": str,
    "seed": int,
    "seconds": NUMBER,
    "error": str,
    "verdict": str,
    "backend": dict,
    "outcomes": list,
}
"""What a run says of each target."""

BACKEND = {
    "name": str,
    "library": str,
    "version": str,
    "packages": dict,
    "conventions": dict,
    "known_issues": dict,
    "lacks": list,
}
"""What it says of one that loaded."""

OUTCOME = {"invariant": str, "status": str, "sentence": str, "reason": str, "problems": int, "worst": dict}

TROUBLE = {"message": str, "case": str, "problem": list, "lacks": list}
"""What an outcome says of a violation."""


@dataclass(frozen=True)
class Entry:
    """One implementation in one run."""

    run: dict[str, Any]
    target: dict[str, Any]

    @property
    def name(self) -> str:
        """The backend's name, or the target where it did not load."""
        return str(self.target["backend"].get("name", self.target["target"]))

    @property
    def packages(self) -> dict[str, str]:
        """What it runs on, the most telling first: its own packages, then the array library, with versions."""
        about = self.target["backend"]
        library = {about["library"]: about["version"]} if "library" in about else {}
        return {**about.get("packages", {}), **library}

    @property
    def project(self) -> str:
        """Whose it is: its first package, "" if nothing is known of it."""
        return next(iter(self.packages), "")

    @property
    def outcomes(self) -> dict[str, dict[str, Any]]:
        """The rows by invariant."""
        return {row["invariant"]: row for row in self.target["outcomes"]}


def entries(files: Iterable[Path]) -> list[Entry]:
    """Every implementation of the runs, the latest where there are several, project by project.

    ValueError for a file that is none of a run of invariants.
    """
    return latest(entry for file in files for entry in read(file))


def latest(found: Iterable[Entry]) -> list[Entry]:
    """The latest of each implementation, project by project."""
    by_name = {entry.name: entry for entry in sorted(found, key=lambda entry: str(entry.run["date"]))}
    return sorted(by_name.values(), key=lambda entry: (entry.project, entry.name))


def read(file: Path) -> list[Entry]:
    """The implementations of one file. ValueError in a line if it is damaged, or an older attnspec wrote it."""
    with opened(file, "attnspec verify") as run:
        return entries_of(run)


def entries_of(run: dict[str, Any]) -> list[Entry]:
    """The implementations of a run as it stands in a file. ValueError as ``read``."""
    check("a run", run, RUN)
    for target in run["targets"]:
        check("a target", target, TARGET)
        for row in target["outcomes"]:
            _check_outcome(row)
        if target["backend"]:
            check("a backend", target["backend"], BACKEND)
    return [Entry(run, target) for target in run["targets"]]


def _check_outcome(row: Any) -> None:
    check("an outcome", row, OUTCOME)
    if row["invariant"] not in catalogue():
        what = "invariants of attention, as this attnspec knows them"
        raise ValueError(f"wanted {what}, came {row['invariant']!r}")
    if row.get("trouble") is not None:
        check("a violation", row["trouble"], TROUBLE)
    check(f"the worst of {row['invariant']}", row["worst"], dict.fromkeys(row["worst"], (int, float, str)))
    numbers(row["invariant"], row["worst"], row["worst"])
