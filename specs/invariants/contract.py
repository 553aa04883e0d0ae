"""The contract itself: what a backend says of itself is so."""

import contextlib

from attnspec.specs.backend import Backend, BackendError, Malformed
from attnspec.specs.catalogue import Inapplicable, Violation, invariant
from attnspec.specs.contract import TRANSFORMS
from attnspec.specs.invariants.common import hold_result
from attnspec.specs.problem import Problem
from attnspec.specs.transforms import attempt


@invariant(
    "contract.claims",
    formula="keyword in the signature ∧ not in LACKS ⟹ works",
    source="attnspec contract",
    catches=("G9", "H8", "P1"),
)
def claims(backend: Backend, problem: Problem) -> float:
    """Whatever the signature and the array library claim works, or is a declared lack."""
    for transforms in (frozenset(), *(frozenset({name}) for name in TRANSFORMS)):
        if backend.supports(problem.features | transforms):
            with contextlib.suppress(Malformed):
                attempt(backend, problem, transforms)
    return 0.0


@invariant(
    "contract.lacks",
    formula="in LACKS ⟹ raises, or is right",
    source="attnspec contract",
    catches=("I6",),
)
def lacks(backend: Backend, problem: Problem) -> float:
    """What is declared lacking raises an error, or else is right: it is never ignored in silence."""
    if not backend.declaration.missing(problem.features):
        raise Inapplicable
    try:
        return hold_result(backend, problem, backend.solve(problem))
    except BackendError:
        return 0.0


@invariant(
    "contract.known_issues",
    formula="in KNOWN_ISSUES ⟹ fails",
    source="attnspec contract",
    catches=(),
)
def known_issues(backend: Backend, problem: Problem) -> float:
    """A known issue that is tied to features still fails there."""
    if not any(features <= problem.features for features in backend.declaration.known_faults):
        raise Inapplicable
    try:
        hold_result(backend, problem, backend.solve(problem))
    except (Violation, BackendError):
        return 0.0
    raise Violation("wanted a failure as declared, came the right result")
