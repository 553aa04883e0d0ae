"""Result files of every kind, told apart by what they hold."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from attnspec.benchmarks.run import Run, run_of
from attnspec.conformance.runs import Entry, entries_of, latest
from attnspec.json_file import opened

MUTANTS = "attnspec.mutants"
"""The package whose modules, verified, make the kill matrix."""


@dataclass(frozen=True)
class Results:
    """All that the page is made of."""

    implementations: list[Entry] = field(default_factory=list)
    mutants: list[Entry] = field(default_factory=list)
    benches: list[Run] = field(default_factory=list)


def read_results(files: Iterable[Path]) -> Results:
    """What the files hold. ValueError in a line for one that is damaged, of an older attnspec, or of no kind known."""
    found, benches = [], []
    for file in files:
        with opened(file, "attnspec verify or attnspec bench") as data:
            if "benchmarks" in data:
                benches.append(run_of(data))
            elif "targets" in data:
                found += entries_of(data)
            else:
                wanted = "'targets' (attnspec verify --json) or 'benchmarks' (attnspec bench --json)"
                raise ValueError(f"wanted a JSON object with {wanted}, came one without: damaged, or another kind")
    benches.sort(key=lambda bench: bench.date)
    return Results(latest(entry for entry in found if not is_mutant(entry)), latest(filter(is_mutant, found)), benches)


def is_mutant(entry: Entry) -> bool:
    """Whether it was verified to see it fail."""
    return str(entry.target["target"]).rpartition(".")[0] == MUTANTS
