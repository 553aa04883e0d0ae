"""Influence: what reaches an output is what the options let it see, no more and no less.

Found by changing one key or value at a time, and by the gradient of one output at a time.
"""

from collections.abc import Iterator

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import Violation, invariant
from attnspec.specs.contract import OPTIONS
from attnspec.specs.invariants.common import averaging, part, require, slack
from attnspec.specs.invariants.gradient import determined
from attnspec.specs.problem import Array, Problem, lifted, numpy_dtype

SMALL = 600
"""Scores in the largest problem that is looked at: where tiles end is for the definition to see."""

CERTAIN = 4
"""So many times the bound an effect must be to be sure of."""

SEEN = "Vaswani et al. 2017, section 3.2.1: each output is a sum over the values, weighted by query and key"


def _some(problem: Problem) -> list[int]:
    """The first key, the last and one between, for each costs a call; Inapplicable to large problems and empty ones."""
    batch, heads, _, queries, keys, *_ = problem.shape
    require(0 < batch * heads * queries * keys <= SMALL)
    return sorted({0, int(problem.rng.randint(keys)), keys - 1})


@invariant(
    "influence.values",
    formula="O_i changes with V_j ⟺ j visible to i",
    source=SEEN,
    catches=("B14", "B16", "C4", "C12", "G10", "M4", "M5", "M7", "O10", "O13"),
)
def values(backend: Backend, problem: Problem) -> float:
    """Changing one value changes the outputs of exactly the queries that see its key, in every sample and head."""
    require(problem.value.size > 0)
    for key in _some(problem):
        value = np.array(problem.value)
        value[..., key, :] = (np.asarray(value[..., key, :], np.float64) + 3).astype(value.dtype)
        _hold_reach(backend, problem, problem.replace(value=value), f"value {key}", key)
    return 0.0


@invariant(
    "influence.keys",
    formula="O_i changes with K_j ⟺ j visible to i and its weight changes",
    source=SEEN,
    catches=("B14", "B16", "C4", "M5", "M7", "O10"),
)
def keys(backend: Backend, problem: Problem) -> float:
    """Changing one key changes the outputs of queries that see it, and of no others."""
    require(problem.key.size > 0 and problem.value.size > 0)
    for key in _some(problem):
        changed = np.array(problem.key)
        changed[..., key, :] = (np.asarray(changed[..., key, :], np.float64) + 1.5).astype(changed.dtype)
        _hold_reach(backend, problem, problem.replace(key=changed), f"key {key}", key)
    return 0.0


def _hold_reach(backend: Backend, problem: Problem, changed: Problem, what: str, key: int) -> None:
    """Violation if a row moves that does not see the key, or one stays that must move."""
    before, after = (np.asarray(part(backend.solve(p), "output"), np.float64) for p in (problem, changed))
    old, new = (backend.solution(p).output for p in (problem, changed))
    limit = slack(backend, problem, changed)
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    moved = ~same.all(-1)
    blind = ~backend.solution(problem).seen[..., key] & ~averaging(backend, problem)
    _refuse(moved & blind & (np.abs(after - before) > limit).any(-1), what, "does not see it", "changed")
    with np.errstate(invalid="ignore"):
        must = (np.abs(new - old) > CERTAIN * limit).any(-1)
    _refuse(~moved & must, what, "sees it", "did not change")


def _refuse(rows: Array, what: str, sight: str, came: str) -> None:
    if rows.any():
        sample, head, query = (int(i) for i in np.argwhere(rows)[0])
        where = f"sample {sample}, head {head}, query {query}"
        wanted = "no change" if came == "changed" else "a change"
        raise Violation(f"with another {what}: wanted {wanted} of {where}, which {sight}; its output {came}")


@invariant(
    "influence.gradients",
    formula="∂O_i/∂V_j = W_ij: not 0 ⟺ j visible to i",
    source="Dao et al. 2022, FlashAttention, appendix B.2: dV = Pᵀ dO",
    needs={"gradient"},
    costly=True,
)
def gradients(backend: Backend, problem: Problem) -> float:
    """The gradient of one query's output reaches exactly the values that it sees."""
    determined(backend, problem)
    _, heads, _, queries, _, _, width = problem.shape
    require(queries > 0 and heads > 0 and width > 0 and 0 not in problem.shape)
    solution = backend.solution(problem)
    for query, back in _one_at_a_time(problem):
        dvalue = np.asarray(lifted(backend.gradients(problem, back)[2]), np.float64)
        reached = (dvalue != 0).any(-1)  # (B, Hkv, S)
        limit = backend.bound(problem).gradients(lifted(back))[2].max(-1)
        weights = solution.per_kv_head(np.where(solution.empty, 0, 1)[..., query, None] * solution.weights[:, :, query])
        seen = solution.per_kv_head(solution.seen[:, :, query].astype(float)) > 0
        averaged = averaging(backend, problem)[:, :, query].any()
        known = np.isfinite(limit)  # not where scores overflow the type that they are declared to be stored in
        if not averaged and (reached & ~seen & known).any():
            raise Violation(
                f"gradient of query {query}: wanted 0 at values that it does not see, came {dvalue.max():.6g}"
            )
        if (~reached & (weights > CERTAIN * limit)).any():
            raise Violation(f"gradient of query {query}: wanted it at every value that it sees, came 0 at one")
    return 0.0


def _one_at_a_time(problem: Problem) -> Iterator[tuple[int, Array]]:
    """The first and the last query, each with a gradient of ones at its output alone."""
    *_, queries, _, _, width = problem.shape
    for query in sorted({0, queries - 1}):
        back = np.zeros((*problem.query.shape[:-1], width), numpy_dtype(problem.dtype))
        back[..., query, :] = 1
        yield query, back


@invariant(
    "influence.options",
    formula="A(…, option) ≠ A(…) where the definition says so",
    source="attnspec contract: an option is honoured or refused",
    catches=("B16", "C6", "G9", "M5", "M7", "O10", "O11", "O15"),
    any_of={name for name in OPTIONS if not name.startswith("return_")},
    costly=True,
)
def options(backend: Backend, problem: Problem) -> float:
    """An option that must change the result changes it: none is accepted and ignored."""
    pairs = {"query_segments", "key_segments"}
    names = [{name} for name in problem.options if name not in pairs and not name.startswith("return_")]
    names += [pairs] if pairs <= problem.options.keys() else []
    output, exact = part(backend.solve(problem), "output"), backend.solution(problem).output
    looked = False
    for option in names:
        without = problem.with_options(**dict.fromkeys(option))
        if not backend.supports(without.features):
            continue
        with np.errstate(invalid="ignore"):
            effect = np.abs(backend.solution(without).output - exact) > 4 * slack(backend, problem, without)
        if effect.any():
            looked = True
            other = part(backend.solve(without), "output")
            if np.array_equal(other[effect], output[effect]):
                raise Violation(f"without {', '.join(sorted(option))}: wanted another output, came the same")
    require(looked)
    return 0.0
