"""The contract itself: what a backend says of itself is so."""

from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.catalogue import Inapplicable, Violation, invariant
from attnspec.specs.problem import Problem


@invariant(
    "contract.claims",
    formula="keyword in the signature ∧ not in LACKS ⟹ works",
    source="attnspec contract",
    catches=("B8", "B14", "N6"),
)
def claims(backend: Backend, problem: Problem) -> float:
    """Whatever the signature and the array library claim works, or is a declared lack."""
    try:
        backend.solve(problem)
    except BackendError as error:
        raise Violation(str(error)) from None
    return 0.0


@invariant(
    "contract.lacks",
    formula="in LACKS ⟹ raises",
    source="attnspec contract",
    catches=("I6", "C28"),
)
def lacks(backend: Backend, problem: Problem) -> float:
    """What is declared lacking raises an error: it is not ignored in silence."""
    if not backend.declaration.missing(problem.features):
        raise Inapplicable
    try:
        backend.solve(problem)
    except BackendError:
        return 0.0
    raise Violation("wanted an error for a declared lack, came a result")
