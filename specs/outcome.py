"""What comes out of holding a backend to an invariant."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attnspec.specs.problem import Problem

PASSED, FAILED, KNOWN, NOT_CLAIMED, NEVER_RAN = "passed", "failed", "known issue", "not claimed", "never ran"


@dataclass(frozen=True)
class Failure:
    """What is shown of a violation: the smallest problem, and what was wanted and came."""

    message: str
    problem: Problem
    lacks: tuple[str, ...] = ()
    """The LACKS entries that would disclaim what raised."""
    conventions: Mapping[str, Any] = field(default_factory=dict)
    """The CONVENTIONS that would declare what the backend does."""
    malformed: bool = False
    """Whether what came has not even the right sizes or kind of numbers."""


@dataclass(frozen=True)
class Outcome:
    """One invariant's verdict on one backend."""

    invariant: str
    status: str
    problems: int = 0
    seconds: float = 0.0
    worst: dict[str, float] = field(default_factory=dict)
    """The largest error ÷ bound seen, for each dtype."""
    failure: Failure | None = None
    reason: str = ""
    parts: dict[str, float] = field(default_factory=dict)
    """Seconds by kind of work, if they are measured."""
