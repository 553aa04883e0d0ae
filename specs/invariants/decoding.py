"""What the invariants about caches share: what to decode, in which stores and chunks, against what."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.random import RandomState

from attnspec.specs.backend import Backend
from attnspec.specs.caching import ROW, Chunk, Decoder, Store, chunks, claims, sequence, whole
from attnspec.specs.catalogue import Waived, hold
from attnspec.specs.invariants.common import renumbered, require
from attnspec.specs.problem import Array, Problem, generator

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


def chunk_rng(problem: Problem) -> RandomState:
    """For the lengths of chunks: other numbers than those that the sizes of stores come from."""
    return generator(problem.seed, 0xCAC4E)


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


def ring_decoded(backend: Backend, problem: Problem) -> tuple[Problem, Store]:
    """What to decode and a ring that loses tokens on the way."""
    if not claims(backend, "window"):
        raise Waived
    tokens = decoded(backend, problem)
    return tokens, ring(backend, tokens)


def payload(backend: Backend, problem: Problem) -> float:
    """What must leave no trace: NaN, or large numbers where the backend declares that NaN shows through."""
    if backend.conventions["masked_nonfinite"] == "ignored":
        return float("nan")
    return 100.0 if problem.dtype == "float16" else 1e9


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


@lru_cache(maxsize=512)
def other(problem: Problem) -> Problem:
    """The same shapes with other numbers."""
    return renumbered(problem)
