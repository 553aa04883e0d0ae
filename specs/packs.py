"""Packs, drawn: which problems they are made of, how long the sequences are, and which options are on."""

from typing import Any

import numpy as np
from numpy.random import RandomState

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import Probe
from attnspec.specs.contract import LENGTHS, has_keyword
from attnspec.specs.packing import NAME, Pack
from attnspec.specs.problem import Array, Problem, generator
from attnspec.specs.recipe import Recipe, Shape
from attnspec.specs.settings import SETTINGS, Axes

KEYWORDS = ("is_causal", "scale", "softcap", "window", "alibi_slopes", "sinks")

ALIKE = 8
"""Seeds that are so far apart ask for the same options, within each sixteen."""

PLAIN = Shape(4, 3, 3, 5, 5, 5, 5)
"""A shape that any backend takes, in whatever dtype is its first."""

PIECES = (
    (Shape(4, 2, 2, 3, 5, 4, 4), "float64"),
    (Shape(4, 2, 2, 7, 4, 3, 3), "bfloat16"),
    (Shape(4, 3, 1, 3, 6, 5, 5), "float32"),
    (Shape(3, 2, 2, 7, 7, 4, 1), "float32"),
    (Shape(3, 6, 3, 5, 6, 4, 4), "float64"),
    (Shape(3, 1, 1, 2, 1, 3, 2), "float32"),
    (Shape(4, 9, 9, 3, 6, 4, 4), "float16"),
    (Shape(2, 2, 1, 31, 31, 8, 16), "bfloat16"),
    (Shape(2, 2, 2, 17, 33, 16, 16), "float32"),
    (Shape(1, 2, 2, 0, 3, 2, 2), "float32"),
    (Shape(1, 2, 2, 3, 0, 2, 2), "float32"),
    (Shape(2, 1, 1, 65, 63, 136, 136), "float32"),
    (Shape(1, 2, 2, 130, 385, 7, 5), "float16"),
)
"""Shapes and dtypes, small ones first. A problem's batch is put in a row and cut anew: B·L queries and B·S keys."""


def _probe(shape: Shape, dtype: str | None, seed: int) -> Probe:
    return lambda first: Recipe(shape, dtype or first, ("gaussian", "uniform")[seed % 2], seed).problem()


GROUPED, SIMPLE, CROSS = (
    tuple(_probe(shape, dtype, seed) for seed in (first, first + ALIKE))
    for shape, dtype, first in (
        (Shape(4, 6, 2, 4, 7, 7, 5), None, 1),
        (PLAIN, None, 2),
        (Shape(4, 2, 2, 6, 3, 3, 3), "float16", 5),
    )
)
"""Two packs each that differ in numbers and lengths alone, so that together they cost one compilation."""

_pieces = tuple(_probe(*piece, seed) for seed, piece in enumerate(PIECES, 16))

FEW = (*SIMPLE, *GROUPED, *CROSS, *_pieces[:5])
"""Where shapes cost compilations, no more than the pairs are looked at."""

PROBES = (*FEW, *_pieces[5:], *(_probe(PLAIN, None, seed) for seed in range(32, 40)))


def claims(backend: Backend, keyword: str) -> bool:
    """Whether the function has the keyword, and it is not declared lacking."""
    has = has_keyword(backend.functions[NAME], keyword)
    return has and not backend.declaration.missing(frozenset({NAME, keyword, backend.device}))


def packed(backend: Backend, problem: Problem) -> Pack:
    """The problem's batch in a row, cut anew into sequences; the lengths and the options are fixed by its seed."""
    slot = (NAME, problem, backend.declaration.lacks)
    if slot not in backend.memo:
        rng = generator(problem.seed, 0x9ACC)
        query, key, value = map(_in_a_row, (problem.query, problem.key, problem.value))
        able = {word for word in ("cross", "zero_size") if _able(backend, problem.features | {word})}
        features = (problem.features - LENGTHS) | able | {NAME}
        offsets = _offsets(rng, len(query), len(key), able)
        options = _options(backend, problem, features)
        first, second = (o.astype(np.int64 if problem.seed % 2 else np.int32) for o in offsets)
        backend.memo[slot] = Pack(query, key, value, first, second, options, features | set(options))
    pack: Pack = backend.memo[slot]
    return pack


def _in_a_row(array: Array) -> Array:
    """(B·n, H, D) of (B, H, n, D)."""
    batch, heads, tokens, width = array.shape
    return array.swapaxes(1, 2).reshape(batch * tokens, heads, width)


def _able(backend: Backend, features: frozenset[str]) -> bool:
    return not backend.declaration.missing(features | {NAME, backend.device})


def allows(backend: Backend, problem: Problem, pack: Pack, **options: Any) -> bool:
    """Whether no declared lack rules the options out on top of the pack's."""
    return _able(backend, pack.features | problem.with_options(**{**pack.options, **options}).features)


SHARES = (0.1, 0.2, 0.3, 0.4)
"""Of all tokens, what each sequence gets on average; empty ones join them."""

SEQUENCES = len(SHARES)


def _offsets(rng: RandomState, queries: int, keys: int, able: set[str]) -> tuple[Array, Array]:
    """Unequal lengths, and as far as that is claimed a sequence without queries, one without keys and a blank one."""
    if "zero_size" not in able:
        pieces = min(SEQUENCES, queries, keys)
        first, second = (cut(rng, n, pieces) for n in (queries, keys))
    else:
        lengths = [rng.multinomial(n, rng.permutation(SHARES)) for n in (queries, keys)]
        lengths = [np.insert(each, rng.randint(SEQUENCES + 1), 0) for each in lengths]
        blank = rng.randint(SEQUENCES + 2)
        first, second = (np.append(0, np.cumsum(np.insert(each, blank, 0))) for each in lengths)
    return first, second if "cross" in able else first


def cut(rng: RandomState, tokens: int, pieces: int, empty: bool = False) -> Array:
    """Offsets of so many sequences, of which some may be ``empty``."""
    inner = np.sort(1 + rng.choice(tokens - 1, pieces - 1, replace=empty))
    return np.array([0, *inner, tokens])


def _options(backend: Backend, problem: Problem, features: frozenset[str]) -> dict[str, Any]:
    """Among eight seeds in a row, each two claimed keywords are both on, both off, and each on alone, twice.

    An orthogonal array of strength 2: Rao 1947, Factorial experiments derivable from combinatorial arrangements.
    """
    _, heads, kv_heads, *_ = problem.shape
    rng = generator(problem.seed // (2 * ALIKE), problem.seed % ALIKE)
    axes, options = Axes(1, heads, kv_heads, len(problem.query), len(problem.key)), dict[str, Any]()
    for column, keyword in enumerate(KEYWORDS, 1):
        settings = [setting(axes, rng, problem.query.dtype) for setting in SETTINGS[keyword].values()]
        fits = [s for s in settings if _able(backend, features | problem.with_options(**options, **s).features)]
        if (problem.seed & column).bit_count() % 2 and claims(backend, keyword) and fits:
            options |= fits[rng.randint(len(fits))]
    return options
