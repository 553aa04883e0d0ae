"""Finding out which of the contract's legal choices a backend makes, by trying each against the oracle."""

from collections.abc import Callable
from typing import Any

from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.catalogue import Evidence, Inapplicable, Violation
from attnspec.specs.contract import CONVENTIONS
from attnspec.specs.invariants.common import hold_result
from attnspec.specs.problem import Problem

Holding = Callable[[Backend, Problem], float]


class Contradiction(Violation):
    """The backend follows another legal value of a convention than the declared one."""

    def __init__(self, name: str, value: Any, seen: str, evidence: Evidence | None = None) -> None:
        super().__init__(f"{seen}; if that is meant, declare CONVENTIONS = {{{name!r}: {value!r}}}", evidence)
        self.name = name
        self.value = value


def _hold_attention(backend: Backend, problem: Problem) -> float:
    return hold_result(backend, problem, backend.solve(problem))


def check_convention(name: str, backend: Backend, problem: Problem, holding: Holding = _hold_attention) -> float:
    """Error ÷ bound under the declared value. Contradiction if only another value agrees with the oracle.

    ``holding`` compares the backend with what its conventions ask for, attention unless given.

    Where no value agrees, the fault is not one of convention, and the definition's to report.
    """
    declared = backend.conventions[name]
    values = sorted(CONVENTIONS[name], key=lambda value: bool(value != declared))
    for value in values:
        ratio = agreement(following(backend, name, value), problem, holding)
        if ratio is not None and value == declared:
            return ratio
        if ratio is not None:
            raise Contradiction(name, value, f"wanted {declared!r} as declared, came {value!r}")
    raise Inapplicable


def following(backend: Backend, name: str, value: Any) -> Backend:
    """The backend with one convention changed."""
    return backend.assuming(conventions={**backend.conventions, name: value})


def agreement(backend: Backend, problem: Problem, holding: Holding = _hold_attention) -> float | None:
    """Error ÷ bound, or None if the backend does not give what the oracle gives."""
    try:
        return holding(backend, problem)
    except (Violation, BackendError):
        return None
