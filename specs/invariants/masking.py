"""Masking: a hidden key is as good as absent, by whatever it is hidden."""

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import hold, invariant
from attnspec.specs.contract import HIDING
from attnspec.specs.invariants.common import (
    averaging,
    hold_result,
    hold_same,
    other_values,
    part,
    poisoned,
    require,
    slack,
    unread,
    with_keys,
)
from attnspec.specs.problem import Array, Problem, lifted

SECTION = "Vaswani et al. 2017, section 3.2.3"


@invariant(
    "masking.masked_is_removed",
    formula="A(Q, K, V; key j masked) = A(Q, K without j, V without j)",
    source=SECTION,
    catches=("C12", "C15", "C17", "C27"),
    without={"is_causal", "window", "alibi_slopes", "key_lengths"},
    claims={"mask", "cross"},
    costly=True,
)
def masked_is_removed(backend: Backend, problem: Problem) -> float:
    """Masking a key is the same as leaving it out, wherever it stands."""
    *_, keys, _, _ = problem.shape
    require(keys > 1)
    gone = int(problem.rng.randint(keys))
    kept = np.arange(keys) != gone
    masked = problem.with_options(mask=_full_mask(problem) & kept)
    require(backend.supports(masked.features))
    removed = _without(masked, kept)
    require(backend.supports(removed.features))
    limit, kept_rows = slack(backend, masked, removed), ~averaging(backend, masked)[..., None]
    came, wanted = (np.where(kept_rows, part(backend.solve(p), "output"), 0) for p in (masked, removed))
    return hold(f"output without key {gone}", came, wanted, limit)


def _full_mask(problem: Problem) -> Array:
    """The problem's mask with its last two axes written out, True without one."""
    *_, queries, keys, _, _ = problem.shape
    given = np.asarray(problem.options.get("mask", True))
    return np.broadcast_to(given, (*given.shape[:-2], queries, keys))


def _without(masked: Problem, kept: Array) -> Problem:
    """The problem with only the kept keys, and without a mask that hides none of them."""
    left = with_keys(masked, kept)
    return left.with_options(mask=None) if left.options["mask"].all() else left


@invariant(
    "masking.hidden_is_unread",
    formula="A(K + ε, V + ε where hidden) = A(K, V)",
    source=SECTION,
    catches=("C4", "C9", "C12", "C27", "C28", "O10", "O13", "O15"),
    any_of=HIDING,
)
def hidden_is_unread(backend: Backend, problem: Problem) -> float:
    """Whatever stands at keys and values that a query may not attend to, however large, does not change its output."""
    places, rows = unread(backend, problem)
    payload = 100.0 if problem.dtype == "float16" else 1e9
    spoiled = poisoned(poisoned(problem, places, -payload, "key"), places, payload, "value")
    came, wanted = backend.solve(spoiled), backend.solve(problem)
    return hold_same(backend, problem, came, wanted, "with hidden places filled, ", rows)


@invariant(
    "masking.causality",
    formula="O_i depends on K_j, V_j with j ≤ i + offset alone",
    source=SECTION,
    catches=("B8", "B11", "B13", "B14", "B16", "B19", "C4", "G3"),
    needs={"is_causal"},
)
def causality(backend: Backend, problem: Problem) -> float:
    """Under is_causal, changing later keys and values leaves the outputs of earlier queries as they are."""
    *_, queries, keys, _, _ = problem.shape
    require(queries > 0 and keys > 1)
    first = 1 + int(problem.rng.randint(keys - 1))
    later = (np.arange(keys) >= first)[:, None]
    changed = problem.replace(
        key=np.where(later, other_values(problem, problem.key), problem.key),
        value=np.where(later, other_values(problem, problem.value), problem.value),
    )
    earlier = (backend.solution(problem).position >= 0)[:, first:].sum(1) == 0
    require(bool(earlier.any()))
    kept = earlier[:, None] & ~averaging(backend, problem)[..., None]
    came, wanted = (np.where(kept, part(backend.solve(p), "output"), 0) for p in (changed, problem))
    return hold(f"output before key {first}", came, wanted, slack(backend, problem))


def _causal_mask(backend: Backend, problem: Problem) -> Array:
    """(L, S): what is_causal shows, under the backend's alignment."""
    return backend.solution(problem).position >= 0


@invariant(
    "masking.causal_is_mask",
    formula="A(is_causal) = A(mask_ij = [j ≤ i + offset])",
    source=SECTION,
    catches=("A11", "B3", "B8", "B11", "B16", "B17", "O3"),
    needs={"is_causal"},
    without={"mask"},
    claims={"mask"},
    costly=True,
)
def causal_is_mask(backend: Backend, problem: Problem) -> float:
    """is_causal is the same as the explicit lower-triangular mask."""
    explicit = problem.with_options(is_causal=None, mask=_causal_mask(backend, problem))
    require(backend.supports(explicit.features))
    return hold_same(backend, problem, backend.solve(problem), backend.solve(explicit))


@invariant(
    "masking.mask_and_causal",
    formula="A(mask, is_causal) = A(mask ∧ causal)",
    source="ONNX Attention: is_causal and attn_mask both apply",
    catches=("B13", "B14"),
    needs={"mask", "is_causal"},
    costly=True,
)
def mask_and_causal(backend: Backend, problem: Problem) -> float:
    """A mask and is_causal together hide what either hides."""
    both = problem.options["mask"] & _causal_mask(backend, problem)
    explicit = problem.with_options(is_causal=None, mask=both)
    return hold_same(backend, problem, backend.solve(problem), backend.solve(explicit))


@invariant(
    "masking.bias_is_mask",
    formula="A(bias_ij = −∞ where hidden) = A(mask)",
    source=SECTION,
    catches=("C5", "C6", "C8", "C16"),
    needs={"mask"},
    without={"bias"},
    claims={"bias"},
    costly=True,
)
def bias_is_mask(backend: Backend, problem: Problem) -> float:
    """A bias of −inf hides a key as a mask does, in every row that keeps one."""
    mask = problem.options["mask"]
    bias = np.where(mask, 0.0, -np.inf).astype(problem.query.dtype)
    biased = problem.with_options(mask=None, bias=bias)
    require(backend.supports(biased.features))
    kept = ~backend.solution(problem).empty[..., None]
    came, wanted = (np.where(kept, part(backend.solve(p), "output"), 0) for p in (biased, problem))
    return hold("output", came, wanted, slack(backend, problem, biased))


@invariant(
    "masking.broadcast",
    formula="A(mask) = A(broadcast(mask, (B, Hq, L, S)))",
    source="array API standard, broadcasting",
    catches=("A6", "C22", "C23", "C24"),
    any_of={"mask", "bias"},
    costly=True,
)
def broadcast(backend: Backend, problem: Problem) -> float:
    """A mask or bias that broadcasts gives what the same one written out in full gives."""
    require("mask" in problem.options or "bias" in problem.options)
    full = (*problem.query.shape[:-1], problem.key.shape[-2])
    options = {n: np.broadcast_to(problem.options[n], full) for n in ("mask", "bias") if n in problem.options}
    written_out = problem.with_options(**options)
    return hold_same(backend, problem, backend.solve(problem), backend.solve(written_out))


@invariant(
    "masking.trivial_mask",
    formula="A(mask = True everywhere) = A()",
    source=SECTION,
    catches=("O11",),
    without={"mask"},
    claims={"mask"},
    costly=True,
)
def trivial_mask(backend: Backend, problem: Problem) -> float:
    """A mask that hides nothing changes nothing, and overrides no other option."""
    *_, queries, keys, _, _ = problem.shape
    masked = problem.with_options(mask=np.ones((queries, keys), bool))
    require(backend.supports(masked.features))
    return hold_same(backend, problem, backend.solve(masked), backend.solve(problem))


@invariant(
    "masking.empty_rows",
    formula="no visible key: O_i by convention, all other rows by eq. 1",
    source="torch SDPA and ONNX Attention: zeros; jax.nn.dot_product_attention: the mean",
    catches=("A8", "A11", "D5"),
    any_of={"mask", "key_lengths", "query_segments"},
    costly=True,
)
def empty_rows(backend: Backend, problem: Problem) -> float:
    """A query that sees no key gets the declared value and spoils no other row, however it came to see none."""
    emptied = _with_empty_row(backend, problem)
    require(bool(backend.solution(emptied).empty.any()) and problem.shape[4] > 0)
    if emptied is problem:
        return hold_result(backend, emptied, backend.solve(emptied))
    blind = int(np.flatnonzero(backend.solution(emptied).empty.any((0, 1)))[0])
    return hold_result(backend, emptied, backend.solve(emptied), what=f"with query {blind} blinded by a mask, ")


def _with_empty_row(backend: Backend, problem: Problem) -> Problem:
    """The problem itself if a query of it sees no key, else one query blinded by a mask if the backend takes one."""
    *_, queries, _, _, _ = problem.shape
    if not queries or backend.solution(problem).empty.any() or not backend.supports(problem.features | {"mask"}):
        return problem
    seeing = np.arange(queries)[:, None] != problem.rng.randint(queries)
    return problem.with_options(mask=_full_mask(problem) & seeing)


@invariant(
    "masking.nan_query_shows",
    formula="Q_i = NaN and i sees a key ⟹ O_i = NaN, other rows as they were",
    source="IEEE 754-2019, section 6.2: NaN propagates",
    catches=("D4",),
)
def nan_query_shows(backend: Backend, problem: Problem) -> float:
    """A query of NaN that sees a key gives NaN, and no other query's output changes: a fault upstream stays visible."""
    _, _, _, queries, _, key_dim, value_dim = problem.shape
    require(queries > 0 and key_dim > 0 and value_dim > 0)
    seeing = np.asarray(backend.solution(problem).seen.any(-1))  # (B, Hq, L)
    require(bool(seeing.any()))
    drawn, last = int(problem.rng.randint(queries)), queries - 1  # all biases of the last may be the lowest number
    narrow = int(_narrowest(backend, problem)[2])
    rows = [row for row in sorted({drawn, last, narrow}) if seeing[:, :, row].any()]
    wanted = part(backend.solve(problem), "output")
    return max(_spoiled_query_shows(backend, problem, row, seeing, wanted) for row in rows)


def _narrowest(backend: Backend, problem: Problem) -> Array:
    """Sample, head, row and key of the last key that is seen in a row that sees the fewest, one at least.

    A NaN there stands before hidden keys alone, which a running maximum may take for all there is.
    """
    seen = backend.solution(problem).seen  # (B, Hq, L, S)
    count = seen.sum(-1)
    row = np.unravel_index(np.where(count, count, seen.size).argmin(), count.shape)
    return np.array([*row, np.flatnonzero(seen[row])[-1]])


def _spoiled_query_shows(backend: Backend, problem: Problem, row: int, seeing: Array, wanted: Array) -> float:
    """Holds the output with query ``row`` NaN to NaN there, where it sees a key, and to ``wanted`` elsewhere."""
    query = np.array(problem.query)
    query[..., row, :] = np.nan
    came = part(backend.solve(problem.replace(query=query)), "output")
    spoiled = np.arange(seeing.shape[-1])[:, None] == row  # (L, 1)
    own = np.where(seeing[..., None] & spoiled, came, np.nan)
    hold(f"output of query {row}", own, np.full(own.shape, np.nan), 0.0)
    return hold("output of other queries", np.where(spoiled, wanted, came), wanted, slack(backend, problem))


@invariant(
    "masking.nan_value_shows",
    formula="V_j = NaN, ∞ or −∞ and i sees j ⟹ O_i = V_j or NaN; other samples and heads as they were",
    source="IEEE 754-2019, sections 6.1 and 6.2: NaN and infinities propagate",
)
def nan_value_shows(backend: Backend, problem: Problem) -> float:
    """A value of NaN or infinity shows, as itself or as NaN, where it is seen, and in no other sample or head."""
    batch, _, kv_heads, queries, keys, *_ = problem.shape
    require(queries > 0 and keys > 0 and problem.value.size > 0)
    spoiled, sample, kv_head = (int(problem.rng.randint(n)) for n in (keys, batch, kv_heads))
    solution, plain = backend.solution(problem), part(backend.solve(problem), "output")
    own = np.zeros(plain.shape[:2], bool)
    own[sample, solution.kv_head == kv_head] = True
    clearly = solution.seen[..., spoiled] & (solution.weights[..., spoiled] > CLEARLY)
    seeing = clearly & own[..., None]  # (B, Hq, L)
    require(bool(seeing.any()))
    ratios = []
    for payload in (np.nan, np.inf, -np.inf):
        value = np.array(problem.value)
        lifted(value)[sample, kv_head, spoiled] = payload
        came = np.asarray(part(backend.solve(problem.replace(value=value)), "output"), np.float64)
        what = f"output with value {spoiled} {payload}"
        excused = np.isnan(came) & np.isinf(payload)
        shown = np.where(seeing[..., None] & ~excused, came, payload)
        ratios.append(hold(what, shown, np.full_like(came, payload), 0.0))
        others = np.where(own[..., None, None] | averaging(backend, problem)[..., None], plain, came)
        ratios.append(hold(f"{what} in another head", others, plain, slack(backend, problem)))
    return max(ratios)


@invariant(
    "masking.nan_bias_shows",
    formula="i sees j: B_ij = NaN ⟹ O_i = NaN, B_ij = ∞ ⟹ O_i = V_j or NaN; other rows as they were",
    source="IEEE 754-2019, sections 6.1 and 6.2: NaN and infinities propagate; the limit of the softmax",
    needs={"bias"},
    without={"softcap"},
    costly=True,
)
def nan_bias_shows(backend: Backend, problem: Problem) -> float:
    """A bias of NaN shows as NaN in its row, one of ∞ as NaN or the value of its key, and neither in another row."""
    plain, seen = part(backend.solve(problem), "output"), np.argwhere(backend.solution(problem).seen)
    require(len(seen) > 0 and problem.value.size > 0)
    places = [seen[problem.rng.randint(len(seen))], _narrowest(backend, problem)]
    return max(_spoiled_bias_shows(backend, problem, place, plain) for place in places)


def _spoiled_bias_shows(backend: Backend, problem: Problem, place: Array, plain: Array) -> float:
    """Holds the row of the bias at ``place`` (sample, head, row, key) to NaN or infinity there, others to ``plain``."""
    solution, (sample, head, row, key), ratios = backend.solution(problem), map(int, place), []
    for payload in (np.nan, np.inf):
        bias = np.array(np.broadcast_to(lifted(problem.options["bias"]), solution.logits.shape))
        bias[sample, head, row, key] = payload
        spoiled = problem.with_options(bias=bias[(0,) * (4 - problem.query.ndim)])
        came, wanted = np.asarray(part(backend.solve(spoiled), "output"), np.float64), np.array(plain, np.float64)
        wanted[sample, head, row] = np.nan
        if np.isinf(payload) and not np.isnan(came[sample, head, row]).any():
            wanted[sample, head, row] = solution.value[sample, head, key]
        what = f"output with a bias of {payload} at [{sample}, {head}, {row}, {key}]"
        ratios.append(hold(what, came, wanted, slack(backend, problem)))
    return max(ratios)


CLEARLY = 1e-3
"""A weight above this is no rounding of 0."""
