"""Caching: what is decoded step by step is what attention over the whole sequence gives."""

import functools

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.caching import FEATURES, Chunk, Decoder, Store, chunks, claims, refusal, sequence, whole
from attnspec.specs.catalogue import Probe, Violation, Waived, hold, invariant
from attnspec.specs.contract import OPTIONS
from attnspec.specs.histories import History, run
from attnspec.specs.invariants.common import require
from attnspec.specs.invariants.decoding import (
    at_once,
    chunk_rng,
    decoded,
    hold_decoded,
    hold_fed,
    of_any_size,
    other,
    payload,
    ragged,
    ragged_decoded,
    ring_decoded,
    sizes,
    some,
    stores,
)
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import Recipe, Shape

OTHERS = {*OPTIONS, "rank2", "rank3", "zero_size"} - {"scale"}

WHOLE = "Vaswani et al. 2017, section 3.2.3: a decoder's token attends to all up to itself"
RING = "Jiang et al. 2023, Mistral 7B, section 2: rolling buffer cache"
PAGES = "Kwon et al. 2023, PagedAttention, section 4"
VALUE = "a cache is a value of its own"

cached = functools.partial(invariant, without=OTHERS, claims=FEATURES, costly=True)


@cached(
    "caching.token_by_token",
    formula="attend_cached(q_i, k_i, v_i; cache of j < i) = A(Q, K, V; causal)_i",
    source=WHOLE,
    catches=("B1", "B6", "B12", "B22", "M8"),
)
def token_by_token(backend: Backend, problem: Problem) -> float:
    """Decoded token by token, each output is that of causal attention over the whole sequence."""
    tokens = decoded(backend, problem)
    plan = chunks([1] * tokens.shape[4])
    return max(hold_decoded(backend, tokens, store, plan) for store in stores(backend, tokens))


@cached(
    "caching.prefill",
    formula="attend_cached(Q, K, V; empty cache) = A(Q, K, V; causal)",
    source=WHOLE,
    catches=("B19",),
)
def prefill(backend: Backend, problem: Problem) -> float:
    """A whole prompt given to an empty cache gives causal attention, also where it is longer than the window."""
    tokens = decoded(backend, problem)
    plan = at_once(backend, tokens.shape[4])
    return max(hold_decoded(backend, tokens, store, plan) for store in stores(backend, tokens))


@cached(
    "caching.chunks",
    formula="attend_cached over any cut of the sequence = A(Q, K, V; causal)",
    source=WHOLE,
    catches=("B19", "M2", "M4", "N5", "O4", "O6"),
)
def chunked(backend: Backend, problem: Problem) -> float:
    """In chunks of whatever sizes, the outputs are those of causal attention over the whole sequence."""
    tokens = decoded(backend, problem)
    plan = of_any_size(backend, chunk_rng(problem), tokens.shape[4])
    return max(hold_decoded(backend, tokens, store, plan) for store in stores(backend, tokens))


@cached(
    "caching.first_token",
    formula="attend_cached(q_1, k_1, v_1; empty cache) = v_1",
    source=WHOLE,
    catches=("O3",),
)
def first_token(backend: Backend, problem: Problem) -> float:
    """The first token of an empty cache attends to itself alone: its output is its value."""
    tokens = decoded(backend, problem)
    ratios = []
    for store in stores(backend, tokens):
        came, _ = Decoder(backend, tokens, store).feed(chunks([1]))
        wanted, bound = backend.solution(tokens).value[:, :, :1], whole(backend, tokens, store)[1][:, :, :1]
        ratios.append(hold(f"first output of a {store}", came[:, :, :1], wanted, bound))
    return max(ratios)


@cached(
    "caching.around_the_window",
    formula="prefill of W − 1, W or W + 1 tokens, then steps: O_i = Σ_{i−W<j≤i} p_ij v_j",
    source=RING,
    catches=("M2", "M4", "O4", "O6"),
)
def around_the_window(backend: Backend, problem: Problem) -> float:
    """A ring that one token less than the window, as many or one more went into goes on with the last of them."""
    tokens, store = ring_decoded(backend, problem)
    assert store.window is not None
    ratios = []
    for first in (store.window - 1, store.window, store.window + 1):
        plan = at_once(backend, first) + chunks([1] * (tokens.shape[4] - first))[:3]
        ratios.append(hold_decoded(backend, tokens, store, plan))
    return max(ratios)


@cached(
    "caching.evicted",
    formula="O_i does not depend on k_j, v_j with j ≤ i − W",
    source=RING,
    catches=("D3",),
)
def evicted(backend: Backend, problem: Problem) -> float:
    """What stood at tokens that the window has left behind, NaN among it, leaves no trace in a ring."""
    tokens, store = ring_decoded(backend, problem)
    assert store.window is not None
    count = tokens.shape[4]
    spoiled = 1 + int(chunk_rng(problem).randint(count - store.window))
    key, value = np.array(tokens.key), np.array(tokens.value)
    key[:, :, :spoiled] = value[:, :, :spoiled] = payload(backend, problem)
    ratios = []
    for plan in (of_any_size(backend, chunk_rng(problem), count), at_once(backend, count)):
        came, fed = Decoder(backend, tokens.replace(key=key, value=value), store).feed(plan)
        fed[:, : spoiled + store.window - 1] = False
        ratios.append(hold_fed(Decoder(backend, tokens, store), came, fed))
    return max(ratios)


@cached(
    "caching.padding_unread",
    formula="O_i does not depend on q, k, v beyond each sequence's length in a chunk",
    source="torch.nn.attention, flash-attention: cache_seqlens, key padding",
    catches=("D2", "O15", "O16"),
)
def padding_unread(backend: Backend, problem: Problem) -> float:
    """What stands at the padding of a chunk, NaN among it, leaves no trace."""
    tokens = ragged_decoded(backend, problem)
    plan, filling = ragged(backend, chunk_rng(problem), tokens), payload(backend, problem)
    return max(hold_decoded(backend, tokens, store, plan, filling) for store in stores(backend, tokens))


@cached(
    "caching.ragged",
    formula="attend_cached(batch, lengths)_b = attend_cached(sequence b alone)",
    source="Kwon et al. 2023, PagedAttention: sequences of a batch are independent",
    catches=("D7", "K14", "N21", "O8", "O16"),
)
def ragged_is_alone(backend: Backend, problem: Problem) -> float:
    """In a batch of sequences of unequal lengths, each gets what it gets alone."""
    tokens = ragged_decoded(backend, problem)
    require(tokens.shape[0] > 1)
    plan = ragged(backend, chunk_rng(problem), tokens)
    return max(hold_decoded(backend, tokens, store, plan, padding=1.0) for store in stores(backend, tokens))


@cached(
    "caching.independent",
    formula="steps with caches c and d in turn = steps with c alone, steps with d alone",
    source=VALUE,
    catches=("O5",),
)
def independent(backend: Backend, problem: Problem) -> float:
    """Two caches that are fed in turn share nothing."""
    tokens = decoded(backend, problem)
    plan, ratios = of_any_size(backend, chunk_rng(problem), tokens.shape[4])[:3], []
    for store in some(backend, tokens):
        first, second = (Decoder(backend, one, store) for one in (tokens, other(tokens)))
        for chunk in plan:
            ratios.append(hold_fed(first, *first.feed([chunk])))
            second.feed([chunk])
    return max(ratios)


@cached(
    "caching.starts_empty",
    formula="new cache, steps x; new cache, steps y; new cache, steps x: the third is the first",
    source=VALUE,
    catches=("O5",),
)
def starts_empty(backend: Backend, problem: Problem) -> float:
    """A new cache is empty, whatever others of the same or of other sizes held before it."""
    tokens = decoded(backend, problem)
    count = tokens.shape[4] if backend.arrays.RUNS_COMPILED else (tokens.shape[4] + 1) // 2
    plan = of_any_size(backend, chunk_rng(problem), tokens.shape[4])[:3]
    ratios = []
    for store in some(backend, tokens):
        for used in (tokens, sequence(other(tokens), tokens=count)):
            Decoder(backend, used, store).feed(at_once(backend, used.shape[4]))
        ratios.append(hold_decoded(backend, tokens, store, plan))
    return max(ratios)


@cached(
    "caching.outputs_stay",
    formula="the output of a step, after later steps = as it came",
    source=VALUE,
    catches=(),
)
def outputs_stay(backend: Backend, problem: Problem) -> float:
    """Later steps leave the outputs of earlier ones as they were."""
    tokens = decoded(backend, problem)
    for store in some(backend, tokens):
        decoder, steps = Decoder(backend, tokens, store), chunks([1] * tokens.shape[4])[:4]
        outputs = [decoder.native(step) for step in steps[:1]]
        first = decoder.read(outputs[0], 1)
        outputs += [decoder.native(step) for step in steps[1:]]
        if decoder.read(outputs[0], 1).tobytes() != first.tobytes():
            raise Violation(f"the first output of a {decoder}: wanted it unchanged, came back changed")
    return 0.0


@cached(
    "caching.overrun",
    formula="more than capacity tokens: ValueError",
    source="a cache has the size that was asked for",
    catches=(),
)
def overrun(backend: Backend, problem: Problem) -> float:
    """A full cache, contiguous or paged, refuses another token with a ValueError."""
    tokens = decoded(backend, problem)
    for store in (store for store in stores(backend, tokens) if store.window is None):
        decoder = Decoder(backend, tokens, store)
        decoder.feed(of_any_size(backend, chunk_rng(problem), tokens.shape[4]))
        came = refusal(decoder, Chunk(store.block_size or 1))
        if came != "ValueError":
            raise Violation(f"one token too many for a {decoder}: wanted a ValueError, came {came}")
    return 0.0


@cached(
    "caching.block_size",
    formula="attend_cached(pages of n tokens) = attend_cached(pages of m tokens)",
    source=PAGES,
    catches=("H15",),
)
def block_size(backend: Backend, problem: Problem) -> float:
    """The size of the pages changes nothing, be it one token or more than there are tokens."""
    if not claims(backend, "block_size"):
        raise Waived
    tokens = decoded(backend, problem)
    if backend.arrays.RUNS_COMPILED:
        return hold_decoded(backend, tokens, Store(block_size=2), chunks([1] * tokens.shape[4]))
    plan = of_any_size(backend, chunk_rng(problem), tokens.shape[4])
    return max(hold_decoded(backend, tokens, Store(block_size=size), plan) for size in (1, 256))


def _probe(shape: Shape) -> Probe:
    return lambda dtype: Recipe(shape, dtype, "small-integers").problem()


@cached(
    "caching.any_history",
    formula="appends, ragged or not, and resets in any order: O_i = A(Q, K, V; causal)_i",
    source="Claessen & Hughes 2002, Testing monadic code with QuickCheck: histories drawn at random",
    catches=("N21", "O5", "O6", "O8", "O16"),
    probes=(_probe(Shape(2, 2, 1, 7, 7, 2, 2)), _probe(Shape(2, 1, 1, 7, 7, 2, 2))),
)
def any_history(backend: Backend, problem: Problem) -> float:
    """After any history of chunks, ragged ones and new beginnings, of two caches in turn, the next output is right."""
    require("gqa" in problem.features or not backend.supports(FEATURES | {"gqa"}))
    problems = problem, other(problem)
    ratios = [0.0]
    for store in stores(backend, problem):

        class TwoCaches(History):
            lengths = sizes(backend)

            def new(self, which: int, store: Store = store) -> Decoder:
                return Decoder(backend, problems[which], store)

            def append(self, decoder: Decoder, chunk: Chunk) -> None:
                ratios.append(hold_fed(decoder, *decoder.feed([chunk])))

        run(TwoCaches, problem.seed)
    return max(ratios)
