"""Symmetry: what may be exchanged without changing anything, and what does not depend on what."""

from typing import Any

import numpy as np
from numpy.random import RandomState

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import hold, invariant
from attnspec.specs.invariants.common import (
    EQUATION_1,
    POSITIONS,
    asked,
    hold_same,
    integral,
    other_values,
    part,
    require,
    slack,
    with_keys,
)
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Array, Problem

SET = "Lee et al. 2019, Set Transformer, property 1"


def _moved(problem: Problem, queries: Array, keys: Array) -> Problem:
    """The problem with its queries and keys in another order, and every option along with them."""
    moved = with_keys(problem, keys)
    options: dict[str, Any] = dict(moved.options)
    for name in {"mask", "bias"} & set(options):
        if options[name].ndim > 1 and options[name].shape[-2] > 1:
            options[name] = options[name][..., queries, :]
    if "query_segments" in options:
        options["query_segments"] = options["query_segments"][..., queries]
    return moved.replace(query=problem.query[..., queries, :], options=options)


@invariant(
    "symmetry.permutation_equivariance",
    formula="A(PX) = P·A(X) for every permutation P of the tokens",
    source=SET,
    catches=("G2", "G3", "H12"),
    without={*POSITIONS, "cross"},
)
def permutation_equivariance(backend: Backend, problem: Problem) -> float:
    """Self-attention without positions does not see order: permuting the tokens permutes the outputs."""
    _, _, _, queries, *_ = problem.shape
    require(queries > 1)
    order = problem.rng.permutation(queries)
    came, wanted = backend.solve(_moved(problem, order, order)), backend.solve(problem)
    limit = slack(backend, problem)[..., order, :]
    return hold("output", part(came, "output"), part(wanted, "output")[..., order, :], limit)


@invariant(
    "symmetry.key_permutation",
    formula="A(Q, PK, PV) = A(Q, K, V)",
    source=SET,
    catches=("E8", "H12"),
    without=POSITIONS,
)
def key_permutation(backend: Backend, problem: Problem) -> float:
    """Permuting keys and values together changes nothing."""
    _, _, _, _, keys, *_ = problem.shape
    require(keys > 1)
    moved = with_keys(problem, problem.rng.permutation(keys))
    limit, wanted = slack(backend, problem), backend.solve(problem)
    return hold("output", part(backend.solve(moved), "output"), part(wanted, "output"), limit)


def _except(problem: Problem, axis: int, kept: int, names: tuple[str, ...]) -> Problem:
    """The problem with other numbers in the named inputs everywhere but at ``kept`` along ``axis``."""
    changed = {}
    for name in names:
        array = getattr(problem, name)
        keep = np.arange(array.shape[axis]).reshape((-1,) + (1,) * (-axis - 1)) == kept
        changed[name] = np.where(keep, array, other_values(problem, array))
    return problem.replace(**changed)


def _alone(backend: Backend, problem: Problem, changed: Problem, axis: int, kept: int, what: str) -> float:
    """Whether the results at ``kept`` along ``axis`` (of four) are the same for both problems."""
    came, wanted, ratios = backend.solve(changed), backend.solve(problem), [0.0]
    for name in asked(problem):
        arrays = (part(came, name), part(wanted, name), slack(backend, problem, name=name))
        picked = (np.take(array, [kept], axis=axis + 1 if name == "lse" else axis) for array in arrays)
        ratios.append(hold(f"{name} of {what} {kept}", *picked))
    return max(ratios)


@invariant(
    "symmetry.query_independence",
    formula="O_i depends on Q_i alone among the queries",
    source=EQUATION_1,
    catches=("F1",),
)
def query_independence(backend: Backend, problem: Problem) -> float:
    """A query's output does not depend on the other queries."""
    _, _, _, queries, *_ = problem.shape
    require(queries > 1)
    kept = int(problem.rng.randint(queries))
    return _alone(backend, problem, _except(problem, -2, kept, ("query",)), -2, kept, "query")


@invariant(
    "symmetry.batch_independence",
    formula="O_b depends on Q_b, K_b, V_b alone",
    source=EQUATION_1,
    catches=("F3", "G4", "G6", "K13", "K14"),
    without={"rank2", "rank3"},
)
def batch_independence(backend: Backend, problem: Problem) -> float:
    """A sample's output does not depend on the other samples in its batch."""
    batch, *_ = problem.shape
    require(batch > 1)
    kept = int(problem.rng.randint(batch))
    return _alone(backend, problem, _except(problem, -4, kept, ("query", "key", "value")), -4, kept, "sample")


@invariant(
    "symmetry.head_independence",
    formula="O_h depends on Q_h and its own key/value head alone",
    source="Vaswani et al. 2017, section 3.2.2",
    catches=("E7", "F4", "G4"),
    without={"gqa", "rank2"},
)
def head_independence(backend: Backend, problem: Problem) -> float:
    """A head's output does not depend on the other heads."""
    _, heads, *_ = problem.shape
    require(heads > 1)
    kept = int(problem.rng.randint(heads))
    return _alone(backend, problem, _except(problem, -3, kept, ("query", "key", "value")), -3, kept, "head")


@invariant(
    "symmetry.value_linearity",
    formula="A(Q, K, aV + bU) = a·A(Q, K, V) + b·A(Q, K, U)",
    source=EQUATION_1,
    catches=(),
)
def value_linearity(backend: Backend, problem: Problem) -> float:
    """The output is linear in the values: weights do not depend on them."""
    first, second = integral(problem.value), integral(other_values(problem, problem.value))
    both = (2 * np.asarray(first, np.float64) - np.asarray(second, np.float64)).astype(first.dtype)
    problems = [problem.replace(value=value) for value in (first, second, both)]
    a, b, came = (np.asarray(part(backend.solve(p), "output"), np.float64) for p in problems)
    limits = [part(backend.bound(p), "output") for p in problems]
    return hold("output", came, 2 * a - b, 2 * limits[0] + limits[1] + limits[2])


def _signed_permutation(rng: RandomState, size: int) -> Floats:
    """An orthogonal matrix that loses no bit."""
    matrix = np.zeros((size, size))
    matrix[np.arange(size), rng.permutation(size)] = rng.choice([-1.0, 1.0], size)
    return matrix


@invariant(
    "symmetry.orthogonal_map",
    formula="A(QU, KU, V) = A(Q, K, V) for orthogonal U",
    source=EQUATION_1,
    catches=("J5",),
)
def orthogonal_map(backend: Backend, problem: Problem) -> float:
    """Turning all queries and keys by one orthogonal map changes nothing: only their angles count."""
    *_, key_dim, _ = problem.shape
    require(key_dim > 0)
    turn = _signed_permutation(problem.rng, key_dim)
    turned = {
        n: (np.asarray(getattr(problem, n), np.float64) @ turn).astype(problem.query.dtype) for n in ("query", "key")
    }
    return hold_same(backend, problem, backend.solve(problem.replace(**turned)), backend.solve(problem))
