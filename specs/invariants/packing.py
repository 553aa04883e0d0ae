"""Packing: sequences that lie one behind the other are attended as each alone."""

import functools

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import Violation, Waived, hold, invariant
from attnspec.specs.contract import OPTIONS
from attnspec.specs.invariants.common import POSITIONS, part, require, unchanged
from attnspec.specs.invariants.decoding import payload
from attnspec.specs.invariants.gradient import NAMES, determined
from attnspec.specs.invariants.packs import (
    cut_otherwise,
    draws,
    exact_gradients,
    filled,
    hold_reordered,
    ids,
    malformed,
    pulled_back,
    ranges,
    refused,
    with_segments,
)
from attnspec.specs.packing import NAME, call, exact, in_a_row, native, solve
from attnspec.specs.packs import FEW, GROUPED, PROBES, SIMPLE, allows, claims, packed
from attnspec.specs.problem import Problem

ALONE = "Dao 2023, FlashAttention-2, flash_attn_varlen_func: a pack is its sequences"

packing = functools.partial(invariant, without={*OPTIONS, "rank2", "rank3"}, claims={NAME}, costly=True, probes=FEW)


@packing(
    "packing.alone",
    formula="attend_packed(Q, K, V; o)_b = A(Q_b, K_b, V_b)",
    source=ALONE,
    catches=("O10", "O12", "O13"),
    probes=PROBES,
)
def alone(backend: Backend, problem: Problem) -> float:
    """Each packed sequence gets what attention gives it alone, be it without queries or without keys."""
    pack = packed(backend, problem)
    return hold(f"output of {pack}", solve(backend, pack), *exact(backend, pack))


@packing(
    "packing.segments",
    formula="attend_packed(Q, K, V; o) = A(Q, K, V; query_segments, key_segments)",
    source="Krell et al. 2021, Efficient Sequence Packing without Cross-contamination (arXiv:2107.02027)",
    catches=("O10", "O13"),
    probes=SIMPLE,
)
def segments(backend: Backend, problem: Problem) -> float:
    """Where positions play no part, a pack is one sequence whose tokens see those of the same segment."""
    if not backend.supports(frozenset({"query_segments", "key_segments"})):
        raise Waived
    pack = packed(backend, problem)
    kept = set(pack.options) & backend.options - set(POSITIONS)
    pack = pack.replace(options={name: pack.options[name] for name in sorted(kept)})
    whole, (exactly, bound) = with_segments(pack), exact(backend, pack)
    require(backend.supports(whole.features))
    wanted = in_a_row([part(backend.solve(whole), "output")])
    if backend.conventions["empty_row"] == "mean":  # the mean of all keys there, of the sequence's own here
        wanted = np.where(backend.solution(whole).empty[0].T[..., None], exactly, wanted)
    limit = bound + in_a_row([backend.bound(whole).output])
    return hold(f"output of {pack}, against segments,", solve(backend, pack), wanted, limit)


@packing(
    "packing.order",
    formula="attend_packed(π of the sequences) = π of attend_packed(the sequences)",
    source=ALONE,
)
def order(backend: Backend, problem: Problem) -> float:
    """In what order the sequences are packed does not matter."""
    pack = packed(backend, problem)
    return hold_reordered(backend, pack, draws(problem).permutation(len(pack.sequences)))


@packing(
    "packing.blank",
    formula="attend_packed(s_1, ∅, s_2, …) = attend_packed(∅, s_1, s_2, …) = attend_packed(s_1, s_2, …, ∅)",
    source=ALONE,
)
def blank(backend: Backend, problem: Problem) -> float:
    """Where a sequence without a token stands among the others changes nothing."""
    pack = packed(backend, problem)
    blanks = np.flatnonzero(np.diff(pack.query_offsets) + np.diff(pack.key_offsets) == 0)
    if not len(blanks):
        raise Waived
    others = np.delete(np.arange(len(pack.sequences)), blanks[0])
    return hold_reordered(backend, pack, *(np.insert(others, at, blanks[0]) for at in (0, 2, len(others))))


@packing(
    "packing.others_unread",
    formula="attend_packed(…)_b does not depend on q, k, v of other sequences",
    source=ALONE,
    catches=("O10", "O13"),
)
def others_unread(backend: Backend, problem: Problem) -> float:
    """What stands in the other sequences, NaN among it, leaves no trace."""
    pack, filling, ratios = packed(backend, problem), payload(backend, problem), []
    wanted, bound = exact(backend, pack)
    for kept in draws(problem).permutation(len(pack.sequences))[:2]:
        query, key = ids(pack.query_offsets) != kept, ids(pack.key_offsets) != kept
        places = {"query": query, "key": key, "value": key}
        spoiled = pack.replace(**{name: filled(getattr(pack, name), at, filling) for name, at in places.items()})
        came = np.where(query[:, None, None], wanted, solve(backend, spoiled))
        ratios.append(hold(f"output of sequence {kept} of {pack}, {filling} in the others,", came, wanted, bound))
    return max(ratios)


@packing(
    "packing.causality",
    formula="is_causal: query i of sequence b sees its keys j ≤ i + offset_b, counted from 0 in each",
    source="Dao 2023, FlashAttention-2, release 2.1: causality is aligned by each sequence's own lengths",
)
def causality(backend: Backend, problem: Problem) -> float:
    """Causality is aligned in each sequence by itself: NaN at later keys leaves no trace in earlier queries."""
    if not claims(backend, "is_causal"):
        raise Waived
    pack, rng = packed(backend, problem), draws(problem)
    require(allows(backend, problem, pack, is_causal=True))
    pack = pack.replace(options={**pack.options, "is_causal": True})
    later, earlier = np.zeros(len(pack.key), bool), np.zeros(len(pack.query), bool)
    for (queries, keys), sequence in zip(ranges(pack), pack.sequences, strict=True):
        first = int(rng.randint(sequence.shape[4] + 1))
        later[keys][first:] = True
        earlier[queries] = (backend.solution(sequence).position[:, first:] < 0).all(-1)
    require(bool(later.any() and earlier.any()))
    filling = payload(backend, problem)
    spoiled = pack.replace(key=filled(pack.key, later, filling), value=filled(pack.value, later, filling))
    wanted, bound = exact(backend, pack)
    came = np.where(earlier[:, None, None], solve(backend, spoiled), wanted)
    return hold(f"output of {pack}, {filling} at later keys,", came, wanted, bound)


@packing(
    "packing.cuts",
    formula="attend_packed(Q, K, V; o)_b = A(Q_b, K_b, V_b) for N = 0, 1, 12, equal lengths, o in int16",
    source=ALONE,
    probes=SIMPLE[:1],
)
def cuts(backend: Backend, problem: Problem) -> float:
    """However many sequences there are, none or one or many, of equal lengths or not, each is attended alone."""
    pack = packed(backend, problem)
    ratios = [
        hold(f"output of {other} ({what})", solve(backend, other), *exact(backend, other))
        for what, other in cut_otherwise(pack)
    ]
    small = {name: getattr(pack, name).astype(np.int16) for name in ("query_offsets", "key_offsets")}
    came = refused(backend, pack, "offsets in int16", small)
    if came is not None:
        ratios.append(hold(f"output of {pack} (offsets in int16)", came, *exact(backend, pack)))
    return max(ratios)


@packing(
    "packing.malformed",
    formula="offsets that fall, or do not go from 0 to T and S, or differ in number: ValueError",
    source="attnspec contract: malformed input raises ValueError",
    probes=SIMPLE,
)
def malformed_offsets(backend: Backend, problem: Problem) -> float:
    """Offsets that are no cumulative lengths of the tokens are refused, and nothing is written beside the arguments."""
    pack, ratios = packed(backend, problem), [0.0]
    for what, offsets in malformed(pack):
        came = refused(backend, pack, what, offsets)
        if came is not None:
            raise Violation(f"with {what}: wanted a ValueError, came an output of shape {came.shape}")
    for name in ("query_offsets", "key_offsets"):
        came = refused(backend, pack, f"{name} in float64", {name: getattr(pack, name).astype(np.float64)})
        if came is not None:
            ratios.append(hold(f"output of {pack}, {name} in float64,", came, *exact(backend, pack)))
    return max(ratios)


@packing(
    "packing.inputs_unchanged",
    formula="query, key, value, offsets and options after the call = before the call, bit by bit",
    source="a function in the mathematical sense",
    probes=SIMPLE,
)
def inputs_unchanged(backend: Backend, problem: Problem) -> float:
    """The call leaves its arguments, the offsets among them, as they were."""
    pack = packed(backend, problem)
    arguments = native(backend, pack)
    arrays = {name: value for name, value in arguments.items() if backend.arrays.is_array(value)}
    with unchanged(backend, arrays):
        call(backend, pack, arguments)
    return 0.0


@packing(
    "packing.gradient",
    formula="(dQ, dK, dV)_b of attend_packed = (dQ_b, dK_b, dV_b) of A(Q_b, K_b, V_b)",
    source="Dao et al. 2022, FlashAttention, appendix B.2",
    catches=("G11", "J5"),
    needs={"gradient"},
    probes=(*GROUPED[:1], *SIMPLE),
)
def gradient(backend: Backend, problem: Problem) -> float:
    """The gradients of query, key and value are those of each sequence alone."""
    require("gqa" in problem.features or not backend.supports(frozenset({NAME, "gqa", "value_dim", "cross"})))
    pack = packed(backend, problem)
    if pack.options.get("scale") == 0:  # dQ and dK are 0, whatever else is wrong
        pack = pack.replace(options={**pack.options, "scale": 0.5})
    for sequence in pack.sequences:
        determined(backend, sequence)
    back = draws(problem).randint(-2, 3, (*pack.query.shape[:2], pack.value.shape[2]))
    came, (wanted, bound) = pulled_back(backend, pack, back), exact_gradients(backend, pack, back)
    return max(hold(f"{name} of {pack}", *each) for name, *each in zip(NAMES, came, wanted, bound, strict=True))
