"""Proof of what ran: an implementation may fall back in silence to another kernel than the one it is asked for."""

from collections import Counter
from collections.abc import Iterable, Mapping

from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.cases import plan_of, spread
from attnspec.specs.contract import first_line, shown
from attnspec.specs.plan import plainest
from attnspec.specs.problem import Problem

ROWS = 15
"""So many of the plan's rows are asked beside the plainest problem."""


def kernels_ran(backend: Backend) -> Mapping[str, int]:
    """On how many problems, of the plainest and a spread of the plan's, each kernel ran; found once for a backend.

    ValueError where the KERNEL that it declares did not run.
    """
    if "ran" not in backend.memo:
        rows = [row for row in plan_of(backend) if "zero_size" not in row.shape.features]  # no work, no kernel
        recipes = [plainest(backend), *spread(rows, ROWS)]
        backend.memo["ran"] = kernels_on(backend, [recipe.problem() for recipe in recipes])
    found: Mapping[str, int] = backend.memo["ran"]
    return found


def kernels_on(backend: Backend, problems: Iterable[Problem]) -> dict[str, int]:
    """On how many of the problems each kernel ran, by the backend's own ``kernels``: none without that function.

    ValueError for a problem on which the declared KERNEL did not run. What raises is for the survey to tell.
    """
    counted: Counter[str] = Counter()
    for problem in problems if backend.kernels else ():
        wanted, came = backend.declaration.kernel, _names(backend, problem)
        if came is None:
            continue
        if wanted is not None and wanted not in came:
            told = ", ".join(sorted(came)) or "none"
            raise ValueError(f"KERNEL: wanted {wanted} to run, came {told}, on {problem.case}")
        counted.update(came)
    return dict(counted)


def _names(backend: Backend, problem: Problem) -> set[str] | None:
    """The kernels that ran on the problem; None if the call raises."""
    assert backend.kernels is not None
    try:
        names = backend.kernels(lambda: backend.solve(problem))
    except BackendError:
        return None
    except Exception as error:
        raise ValueError(f"kernels raised {type(error).__name__}: {first_line(error)}, on {problem.case}") from error
    if not isinstance(names, set | frozenset) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"kernels: wanted a set of names, came {shown(names)}, on {problem.case}")
    return set(names)
