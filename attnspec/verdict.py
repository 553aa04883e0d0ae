"""What a run says of a target: plain values that go through JSON unchanged."""

import dataclasses
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from attnspec.specs import golden
from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import catalogue
from attnspec.specs.contract import (
    FUNCTIONS,
    OPTIONS,
    SHAPE_FEATURES,
    TRANSFORMS,
    default_conventions,
    unclaimed_keywords,
)
from attnspec.specs.layers.catalogue import layer_catalogue
from attnspec.specs.outcome import FAILED, NEVER_RAN, NOT_CLAIMED, Failure, Outcome

CRASHED, HUNG, NOT_RUN = "crashed", "hung", "not run"
"""What becomes of an invariant when the process does not survive it, or is not there for it any more."""

BROKEN = (FAILED, CRASHED, HUNG)
"""The statuses of a violation."""


@dataclass(frozen=True)
class Trouble:
    """A failure as it is shown: the message, the problem as JSON and as lines to read, what would declare it."""

    message: str
    case: str
    problem: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    conventions: dict[str, Any] = field(default_factory=dict)
    malformed: bool = False


@dataclass(frozen=True)
class Row:
    """One invariant's line, or one golden vector's: an Outcome, or what stands in its place."""

    invariant: str
    status: str
    sentence: str = ""
    problems: int = 0
    seconds: float = 0.0
    worst: dict[str, float] = field(default_factory=dict)
    reason: str = ""
    trouble: Trouble | None = None
    parts: dict[str, float] = field(default_factory=dict)
    """Seconds by kind of work, if they were asked for."""

    @property
    def broken(self) -> bool:
        """Whether it is a violation."""
        return self.status in BROKEN

    @property
    def is_vector(self) -> bool:
        """Whether it is a golden vector's: the ids of invariants have a dot."""
        return "." not in self.invariant

    @property
    def plainest_fails(self) -> bool:
        """Whether it says that not even the plainest problem works: then nothing else is asked."""
        return self.invariant == "contract.claims" and self.trouble is not None and not self.trouble.lacks


@dataclass
class Verdict:
    """All that is known of one target after a run; ``error`` says why it could not be verified."""

    target: str
    about: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    error: str = ""
    unavailable: bool = False
    """Whether the error is that something is not on this machine."""
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The backend's name, or the target where there is none."""
        return str(self.about.get("name", self.target))

    @property
    def unit(self) -> str:
        """What the rows are."""
        return "golden vector" if any(row.is_vector for row in self.rows) else "invariant"

    @property
    def exit_code(self) -> int:
        """0 conforms, 1 violates, 2 could not be verified."""
        violated = any(row.broken for row in self.rows)
        unsure = any(row.status in (NEVER_RAN, NOT_RUN) for row in self.rows) and not self.plainest_fails
        return 2 if self.error or unsure or self.vacuous or not self.rows else int(violated)

    @property
    def vacuous(self) -> bool:
        """Whether layers have nothing that any of the invariants is about."""
        idle = (row.status == NOT_CLAIMED and row.invariant.startswith("layers.") for row in self.rows)
        return bool(self.rows) and all(idle)

    @property
    def plainest_fails(self) -> bool:
        """Whether not even the plainest problem works."""
        return any(row.plainest_fails for row in self.rows)


def sentence(id: str) -> str:
    """What a row is about: the invariant's sentence, or the golden vector's comment."""
    known = layer_catalogue().get(id) or catalogue().get(id)
    return known.sentence if known else golden.cases()[id].comment


def row_of(outcome: Outcome) -> Row:
    """The outcome as a row."""
    trouble = None if outcome.failure is None else trouble_of(outcome.failure)
    return Row(
        outcome.invariant,
        outcome.status,
        sentence(outcome.invariant),
        outcome.problems,
        outcome.seconds,
        outcome.worst,
        outcome.reason,
        trouble,
        outcome.parts,
    )


def trouble_of(failure: Failure) -> Trouble:
    """The failure with its problem rendered."""
    from attnspec.show import problem_lines

    lines = tuple(problem_lines(failure.problem))
    return Trouble(
        failure.message, failure.problem.case, lines, failure.lacks, dict(failure.conventions), failure.malformed
    )


def row_from(data: dict[str, Any]) -> Row:
    """The row that ``dataclasses.asdict`` and JSON took apart."""
    trouble = data.get("trouble")
    if trouble is not None:
        lists = {name: tuple(trouble[name]) for name in ("problem", "lacks")}
        trouble = Trouble(**{**trouble, **lists})
    return Row(**{**data, "trouble": trouble})


def about(backend: Backend) -> dict[str, Any]:
    """The backend in plain values: for ``attnspec list``, the report and its JSON."""
    declaration, arrays = backend.declaration, backend.arrays
    words = (*FUNCTIONS, *OPTIONS, *SHAPE_FEATURES, *TRANSFORMS)
    default = default_conventions()
    return {
        "name": backend.name,
        "library": declaration.arrays,
        "version": arrays.version(),
        "packages": {package: metadata.version(package) for package in declaration.packages},
        "device": backend.device,
        "devices": [d for d in arrays.devices() if declaration.devices is None or d in declaration.devices],
        "dtypes": list(declaration.dtypes),
        "features": [name for name in words if backend.supports(frozenset({name}))],
        "lacks": sorted("+".join(sorted(lack)) for lack in declaration.lacks),
        "conventions": dict(declaration.conventions),
        "chosen": {name: value for name, value in declaration.conventions.items() if value != default[name]},
        "known_issues": dict(declaration.known_issues),
        "kernel": declaration.kernel,
        "unclaimed": unclaimed_keywords(backend.function),
    }


def versions_of(about: dict[str, Any]) -> dict[str, str]:
    """The versions of what a backend runs on: the array library first."""
    return {about["library"]: about["version"], **about.get("packages", {})}


def plain(value: Any) -> Any:
    """Dataclasses taken apart, and numbers that JSON does not know as text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)
    return value
