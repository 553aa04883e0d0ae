"""What the command is asked to probe, and what is said along with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Request:
    """The target, the array libraries to try, arguments that are always given, and what is not to be found out."""

    target: str
    arrays: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    told: Mapping[str, Any] = field(default_factory=dict)
    """Convention → its value, option → the parameter that takes it."""
    out: str | None = None
    """Where the adapter goes, for its imports."""

    @staticmethod
    def read(data: Mapping[str, Any]) -> "Request":
        """From decoded JSON with the same fields, and others."""
        return Request(data["target"], tuple(data["arrays"]), data["given"], data["told"], data["out"])
