"""Composition: attention over parts, merged, is attention over the whole."""

from typing import Any

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import hold, invariant
from attnspec.specs.invariants.common import POSITIONS, part, require, with_keys
from attnspec.specs.problem import Problem


@invariant(
    "composition.merge_by_lse",
    formula="O = Σ_b exp(LSE_b − LSE)·O_b, LSE = log Σ_b exp(LSE_b)",
    source="Dao et al. 2022, FlashAttention, section 3.1; Milakov & Gimelshein 2018",
    catches=("D5", "E8", "H15", "L4", "L6"),
    needs={"return_lse"},
    without={*POSITIONS, "sinks"},
    costly=True,
)
def merge_by_lse(backend: Backend, problem: Problem) -> float:
    """Attention over two blocks of keys, merged by their log-sum-exp, is attention over all keys."""
    _, _, _, _, keys, *_ = problem.shape
    require(keys > 1)
    cut = 1 + int(problem.rng.randint(keys - 1))
    blocks = [with_keys(problem, slice(0, cut)), with_keys(problem, slice(cut, keys))]
    require(all(backend.supports(block.features) for block in blocks))
    results = [backend.solve(block) for block in blocks]
    lses = np.stack([np.asarray(part(result, "lse"), np.float64) for result in results])
    seen = np.stack([~backend.solution(block).empty for block in blocks])
    require(bool((seen.any(0) == ~backend.solution(problem).empty).all()))
    top = np.max(np.where(seen, lses, -np.inf), axis=0)
    with np.errstate(invalid="ignore"):
        shares = np.where(seen, np.exp(np.where(seen, lses - np.where(np.isfinite(top), top, 0.0), 0.0)), 0.0)
    shares = shares / np.maximum(shares.sum(0), np.finfo(float).tiny)
    outputs = np.stack([np.asarray(part(result, "output"), np.float64) for result in results])
    merged = np.where(shares[..., None] > 0, shares[..., None] * outputs, 0.0).sum(0)
    limit, wanted = _limit(backend, problem, blocks, shares, outputs), backend.solution(problem)
    empty = wanted.empty[..., None]
    return hold("merged output", np.where(empty, 0.0, merged), np.where(empty, 0.0, wanted.output), limit)


def _limit(backend: Backend, problem: Problem, blocks: list[Problem], shares: Any, outputs: Any) -> Any:
    """Each block's error by its share, and the shares' errors, which are at most 1, by what they weigh."""
    limit = part(backend.bound(problem), "output")
    for block, share, output in zip(blocks, shares, outputs, strict=True):
        bound = backend.bound(block)
        with np.errstate(over="ignore", invalid="ignore"):
            drift = np.expm1(2 * np.where(np.isfinite(bound.lse), bound.lse, np.inf))[..., None]
            moved = np.minimum(2 * drift, 1.0)
            counts = (share[..., None] > 0) | (moved == 1)
            more = np.where(counts, bound.output + moved * np.nan_to_num(np.abs(output), nan=np.inf), 0.0)
        limit = limit + more
    return limit
