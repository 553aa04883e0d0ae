"""Heads: several query heads may share a key/value head."""

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import hold, invariant
from attnspec.specs.invariants.common import hold_same, part, require, slack
from attnspec.specs.problem import Problem

GQA = "Ainslie et al. 2023, GQA, section 2.2"


@invariant(
    "heads.gqa_is_repetition",
    formula="A(Q, K, V) = A(Q, repeat(K), repeat(V))",
    source=GQA,
    catches=("G10", "H17"),
    needs={"gqa"},
    costly=True,
)
def gqa_is_repetition(backend: Backend, problem: Problem) -> float:
    """Grouped-query attention is attention with each key/value head repeated for the query heads that share it."""
    head = backend.solution(problem).kv_head
    require(problem.shape[2] > 0)
    repeated = problem.replace(key=problem.key[..., head, :, :], value=problem.value[..., head, :, :])
    return hold_same(backend, problem, backend.solve(problem), backend.solve(repeated))


@invariant(
    "heads.groups_are_apart",
    formula="key/value head g reaches exactly the query heads h with map(h) = g",
    source=GQA,
    catches=("E7", "G10"),
    needs={"gqa"},
)
def groups_are_apart(backend: Backend, problem: Problem) -> float:
    """Changing one key/value head changes the outputs of its own group of query heads and of no other."""
    _, _, kv_heads, queries, keys, *_ = problem.shape
    require(kv_heads > 1 and keys > 0 and queries > 0)
    changed = int(problem.rng.randint(kv_heads))
    value = np.array(problem.value)
    value[..., changed, :, :] = np.asarray(value[..., changed, :, :], np.float64) * 2 + 1
    other = backend.solution(problem).kv_head != changed
    came, wanted = (part(backend.solve(p), "output")[:, other] for p in (problem.replace(value=value), problem))
    return hold(f"heads that do not read key/value head {changed}", came, wanted, slack(backend, problem)[:, other])
