"""Reading what ``attnspec verify --json`` wrote, and bringing several runs together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnspec.specs.catalogue import catalogue
from attnspec.specs.contract import shown
from attnspec.specs.problem import parse_object

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
    try:
        run = parse_object(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: wanted the JSON of attnspec verify, came {error}") from None
    return entries_of(file, run)


def entries_of(file: Path, run: dict[str, Any]) -> list[Entry]:
    """The implementations of a run, the decoded object that ``file`` holds. ValueError as ``read``."""
    check(file, "a run", run, RUN)
    for target in run["targets"]:
        check(file, "a target", target, TARGET)
        for row in target["outcomes"]:
            _check_outcome(file, row)
        if target["backend"]:
            check(file, "a backend", target["backend"], BACKEND)
    return [Entry(run, target) for target in run["targets"]]


def _check_outcome(file: Path, row: Any) -> None:
    check(file, "an outcome", row, OUTCOME)
    if row["invariant"] not in catalogue():
        what = "invariants of attention, as this attnspec knows them"
        raise ValueError(f"{file}: wanted {what}, came {row['invariant']!r}")
    if row.get("trouble") is not None:
        check(file, "a violation", row["trouble"], TROUBLE)
    check(file, f"the worst of {row['invariant']}", row["worst"], dict.fromkeys(row["worst"], (int, float, str)))
    numbers(file, row["invariant"], row["worst"], row["worst"])


def numbers(file: Path, what: str, data: Mapping[str, Any], names: Iterable[str]) -> dict[str, float]:
    """The numbers of ``data`` that have these names and are there. ValueError for what is none.

    Infinity and NaN may come as text, for JSON has none.
    """
    found = {}
    for name in names:
        try:
            if data.get(name) is not None:
                found[name] = float(data[name])
        except (TypeError, ValueError):
            raise ValueError(f"{file}: wanted {what} with {name!r} as a number, came {shown(data[name])}") from None
    return found


def check(file: Path, what: str, data: Any, wanted: Mapping[str, Any]) -> None:
    """ValueError in a line unless ``data`` is an object with the names that are ``wanted``, of those types."""
    if not isinstance(data, dict):
        raise ValueError(f"{file}: wanted {what} as an object, came {type(data).__name__}")
    for name, kind in wanted.items():
        if not isinstance(data.get(name), kind):
            came = f"{type(data[name]).__name__}" if name in data else "none: damaged, or of an older attnspec"
            raise ValueError(f"{file}: wanted {what} with {name!r}, came {came}")
