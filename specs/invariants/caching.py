"""Caching: what is decoded step by step is what attention over the whole sequence gives."""

import functools
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.random import RandomState

from attnspec.specs.backend import Backend
from attnspec.specs.caching import FEATURES, ROW, Chunk, Decoder, Store, chunks, claims, refusal, sequence, whole
from attnspec.specs.catalogue import Probe, Violation, Waived, hold, invariant
from attnspec.specs.contract import OPTIONS
from attnspec.specs.histories import History, run
from attnspec.specs.invariants.common import other_values, require
from attnspec.specs.problem import Array, Problem
from attnspec.specs.recipe import Recipe, Shape

OTHERS = {*OPTIONS, "rank2", "rank3", "zero_size"} - {"scale"}

WHOLE = "Vaswani et al. 2017, section 3.2.3: a decoder's token attends to all up to itself"
RING = "Jiang et al. 2023, Mistral 7B, section 2: rolling buffer cache"
PAGES = "Kwon et al. 2023, PagedAttention, section 4"

VALUE = "a cache is a value of its own"

cached = functools.partial(invariant, without=OTHERS, claims=FEATURES, costly=True)


FEWEST = 3
"""Tokens of a sequence that is worth decoding: in fewer there is no past, present and future."""


def decoded(backend: Backend, problem: Problem) -> Problem:
    """The sequences that an invariant decodes: the problem's first tokens, and its scale as far as that is claimed."""
    tokens = sequence(problem, claims(backend, "scale"))
    require(tokens.shape[4] >= FEWEST)
    return tokens


def stores(backend: Backend, problem: Problem) -> Iterator[Store]:
    """One of each kind that the backend claims; their sizes are fixed by the problem's seed."""
    yield ROW
    if claims(backend, "window"):
        yield ring(backend, problem)
    if claims(backend, "block_size"):
        yield Store(block_size=1 if backend.arrays.RUNS_COMPILED else 1 + int(problem.rng.randint(4)))


def some(backend: Backend, problem: Problem) -> list[Store]:
    """One of them, another one for the next problem; all where there are few problems."""
    claimed = list(stores(backend, problem))
    return claimed if backend.arrays.RUNS_COMPILED else [claimed[problem.seed % len(claimed)]]


def ring(backend: Backend, problem: Problem) -> Store:
    """A ring that is full before the sequence ends."""
    most = min(problem.shape[4] - 1, 5)
    return Store(window=min(most, 2) if backend.arrays.RUNS_COMPILED else 1 + int(problem.rng.randint(most)))


def sizes(backend: Backend) -> list[int]:
    """How long chunks are; where each length costs a compilation, there are few."""
    return [1, 3] if backend.arrays.RUNS_COMPILED else [1, 2, 3, 5]


def dice(problem: Problem) -> RandomState:
    """For the lengths of chunks: other numbers than those that the sizes of stores come from."""
    return RandomState([problem.seed, 0xCAC4E])


def of_any_size(backend: Backend, rng: RandomState, tokens: int) -> list[Chunk]:
    """Chunks of ``tokens`` in all."""
    drawn: list[int] = []
    while left := tokens - sum(drawn):
        drawn.append(int(rng.choice([size for size in sizes(backend) if size <= left])))
    return chunks(drawn)


def at_once(backend: Backend, tokens: int) -> list[Chunk]:
    """All tokens in one chunk; where each length costs a compilation, in the fewest chunks."""
    if not backend.arrays.RUNS_COMPILED:
        return chunks([tokens] if tokens else [])
    longest = max(sizes(backend))
    return chunks([longest] * (tokens // longest) + [1] * (tokens % longest))


def hold_decoded(backend: Backend, problem: Problem, store: Store, plan: list[Chunk], padding: float = 0.0) -> float:
    """What a new cache gives for the problem's tokens, against attention over the whole."""
    decoder = Decoder(backend, problem, store)
    return hold_fed(decoder, *decoder.feed(plan, padding))


def hold_fed(decoder: Decoder, came: Array, fed: Array) -> float:
    """The outputs of the tokens that were fed, against attention over the whole."""
    wanted, bound = whole(decoder.backend, decoder.problem, decoder.store)
    return hold(f"output of a {decoder}", np.where(fed[:, None, :, None], came, wanted), wanted, bound)


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
    plan = of_any_size(backend, dice(problem), tokens.shape[4])
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


def ring_decoded(backend: Backend, problem: Problem) -> tuple[Problem, Store]:
    """What to decode and a ring that loses tokens on the way."""
    if not claims(backend, "window"):
        raise Waived
    tokens = decoded(backend, problem)
    return tokens, ring(backend, tokens)


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
    spoiled = 1 + int(dice(problem).randint(count - store.window))
    key, value = np.array(tokens.key), np.array(tokens.value)
    key[:, :, :spoiled] = value[:, :, :spoiled] = payload(backend, problem)
    ratios = []
    for plan in (of_any_size(backend, dice(problem), count), at_once(backend, count)):
        came, fed = Decoder(backend, tokens.replace(key=key, value=value), store).feed(plan)
        fed[:, : spoiled + store.window - 1] = False
        ratios.append(hold_fed(Decoder(backend, tokens, store), came, fed))
    return max(ratios)


def payload(backend: Backend, problem: Problem) -> float:
    """What must leave no trace: NaN, or large numbers where the backend declares that NaN shows through."""
    if backend.conventions["masked_nonfinite"] == "ignored":
        return float("nan")
    return 100.0 if problem.dtype == "float16" else 1e9


@cached(
    "caching.padding_unread",
    formula="O_i does not depend on q, k, v beyond each sequence's length in a chunk",
    source="torch.nn.attention, flash-attention: cache_seqlens, key padding",
    catches=("D2", "O15", "O16"),
)
def padding_unread(backend: Backend, problem: Problem) -> float:
    """What stands at the padding of a chunk, NaN among it, leaves no trace."""
    tokens = ragged_decoded(backend, problem)
    plan, filling = ragged(backend, dice(problem), tokens), payload(backend, problem)
    return max(hold_decoded(backend, tokens, store, plan, filling) for store in stores(backend, tokens))


def ragged_decoded(backend: Backend, problem: Problem) -> Problem:
    """What to decode in ragged chunks."""
    if not claims(backend, "lengths"):
        raise Waived
    return decoded(backend, problem)


def ragged(backend: Backend, rng: RandomState, tokens: Problem) -> list[Chunk]:
    """Chunks in which the sequences have unequal numbers of tokens, some none, until the longest comes to its end."""
    batch, *_, count, _, _ = tokens.shape
    plan: list[Chunk] = []
    left = np.full(batch, count)
    while left.min() > 0 and len(plan) < 4:
        size = int(rng.choice(sizes(backend)))
        lengths = np.minimum(rng.randint(0, size + 1, batch), left)
        plan.append(Chunk(size, tuple(map(int, lengths))))
        left = left - lengths
    return plan


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
    plan = ragged(backend, dice(problem), tokens)
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
    plan, ratios = of_any_size(backend, dice(problem), tokens.shape[4])[:3], []
    for store in some(backend, tokens):
        first, second = (Decoder(backend, one, store) for one in (tokens, other(tokens)))
        for chunk in plan:
            ratios.append(hold_fed(first, *first.feed([chunk])))
            second.feed([chunk])
    return max(ratios)


@lru_cache(maxsize=512)
def other(problem: Problem) -> Problem:
    """The same shapes with other numbers."""
    return problem.replace(
        **{name: other_values(problem, getattr(problem, name)) for name in ("query", "key", "value")}
    )


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
    ratios = []
    for store in some(backend, tokens):
        for used in (tokens, sequence(other(tokens), tokens=count)):
            Decoder(backend, used, store).feed(at_once(backend, used.shape[4]))
        ratios.append(hold_decoded(backend, tokens, store, of_any_size(backend, dice(problem), tokens.shape[4])[:3]))
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
        decoder.feed(of_any_size(backend, dice(problem), tokens.shape[4]))
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
    plan = of_any_size(backend, dice(problem), tokens.shape[4])
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

        run(TwoCaches)
    return max(ratios)
