"""The contract's part for packed sequences: several of unequal lengths, one behind the other, without padding.

A module may have, beside ``attention``, this function; a keyword that it does not have is not claimed.

``attend_packed(query, key, value, query_offsets, key_offsets, *, is_causal=False, scale=None, window=None,
softcap=None, alibi_slopes=None, sinks=None)`` gives the output (T, Hq, Dv) of query (T, Hq, Dk), key (S, Hkv, Dk) and
value (S, Hkv, Dv), in their dtype; heads stand behind tokens whatever the convention ``layout``. The offsets are
integers (N + 1), of any width, that rise from 0 to T and from 0 to S, as in flash-attention's
``flash_attn_varlen_func`` (Dao 2023, FlashAttention-2; there ``cu_seqlens``). Sequence b has the queries from
query_offsets[b] to before query_offsets[b + 1], and the keys likewise; it may have none of either.

Each sequence is attended as by ``attention`` on its own, with the keywords and conventions of that: is_causal, window
and ALiBi count positions within the sequence, and ``causal_alignment`` holds for its own lengths. A lack of
``zero_size`` rules out empty sequences, one of ``cross`` other numbers of queries than of keys. Malformed offsets
raise ValueError. The function is called as it is, not compiled: offsets have values that can be looked at.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import RandomState

from attnspec.specs.backend import Backend, Malformed
from attnspec.specs.contract import has_keyword
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Array, Problem
from attnspec.specs.settings import SETTINGS, Axes

NAME = "attend_packed"

ARGUMENTS = ("query", "key", "value", "query_offsets", "key_offsets")

KEYWORDS = ("is_causal", "scale", "softcap", "window", "alibi_slopes", "sinks")


@dataclass(frozen=True, eq=False)
class Pack:
    """N sequences in a row: query (T, Hq, Dk), key (S, Hkv, Dk), value (S, Hkv, Dv), offsets (N + 1)."""

    query: Array
    key: Array
    value: Array
    query_offsets: Array
    key_offsets: Array
    options: Mapping[str, Any]
    features: frozenset[str]
    """The words of LACKS that it asks for."""

    def __str__(self) -> str:
        queries, keys = (np.diff(o).tolist() for o in (self.query_offsets, self.key_offsets))
        return f"a pack of {queries} queries and {keys} keys" + (
            f" with {', '.join(self.options)}" * bool(self.options)
        )

    @cached_property
    def sequences(self) -> tuple[Problem, ...]:
        """Each sequence as a problem of its own, a batch of one."""
        bounds = zip(*(pairwise(o) for o in (self.query_offsets, self.key_offsets)), strict=True)
        return tuple(
            Problem(*(_turned(a) for a in (self.query[a:b], self.key[c:d], self.value[c:d])), self.options)
            for (a, b), (c, d) in bounds
        )

    def reordered(self, order: Array) -> tuple["Pack", Array]:
        """The sequences in another order, and which of this pack's queries each of its queries is."""
        queries, keys = (_places(offsets, order) for offsets in (self.query_offsets, self.key_offsets))
        lengths = (np.diff(offsets)[order] for offsets in (self.query_offsets, self.key_offsets))
        query_offsets, key_offsets = (np.append(0, np.cumsum(n)).astype(self.query_offsets.dtype) for n in lengths)
        arrays = {"query": self.query[queries], "key": self.key[keys], "value": self.value[keys]}
        return self.replace(**arrays, query_offsets=query_offsets, key_offsets=key_offsets), queries

    def replace(self, **changes: Any) -> "Pack":
        """A copy with other fields."""
        return dataclasses.replace(self, **changes)


def _turned(array: Array) -> Array:
    """(1, H, n, D) of (n, H, D)."""
    return array.swapaxes(0, 1)[None]


def _places(offsets: Array, order: Array) -> Array:
    ranges = [np.arange(offsets[b], offsets[b + 1]) for b in order]
    return np.concatenate([np.zeros(0, np.int64), *ranges])


def claims(backend: Backend, keyword: str) -> bool:
    """Whether the function has the keyword, and it is not declared lacking."""
    has = has_keyword(backend.functions[NAME], keyword)
    return has and not backend.declaration.missing(frozenset({NAME, keyword, backend.device}))


def packed(backend: Backend, problem: Problem) -> Pack:
    """The problem's batch in a row, cut anew into sequences; the lengths and the options are fixed by its seed."""
    slot = (NAME, problem, backend.declaration.lacks)
    if slot not in backend.memo:
        rng = RandomState([problem.seed, 0x9ACC])
        arrays = [np.concatenate(a.swapaxes(1, 2)) if len(a) else a[:, 0] for a in _inputs(problem)]
        able = {word for word in ("cross", "zero_size") if _able(backend, problem.features | {word})}
        features = problem.features | able | {NAME}
        offsets = _offsets(rng, len(arrays[0]), len(arrays[1]), able)
        options = _options(backend, problem, features, rng)
        wide = np.int64 if problem.seed % 2 else np.int32
        backend.memo[slot] = Pack(*arrays, *(o.astype(wide) for o in offsets), options, features | set(options))
    pack: Pack = backend.memo[slot]
    return pack


def _inputs(problem: Problem) -> tuple[Array, Array, Array]:
    return problem.query, problem.key, problem.value


def _able(backend: Backend, features: frozenset[str]) -> bool:
    return not backend.declaration.missing(features | {NAME, backend.device})


SEQUENCES = 4
"""Pieces that the tokens are cut into at random; they may be empty, and more empty ones join them."""


def _offsets(rng: RandomState, queries: int, keys: int, able: set[str]) -> tuple[Array, Array]:
    """Unequal lengths, and as far as that is claimed a sequence without queries, one without keys and a blank one."""
    if "zero_size" not in able:
        pieces = min(SEQUENCES, queries, keys)
        cuts = [np.sort(1 + rng.choice(n - 1, pieces - 1, replace=False)) for n in (queries, keys)]
        first, second = (np.array([0, *cut, n]) for cut, n in zip(cuts, (queries, keys), strict=True))
    else:
        lengths = [np.diff([0, *np.sort(rng.randint(0, n + 1, SEQUENCES - 1)), n]) for n in (queries, keys)]
        lengths = [np.insert(each, rng.randint(SEQUENCES + 1), 0) for each in lengths]
        blank = rng.randint(SEQUENCES + 2)
        first, second = (np.append(0, np.cumsum(np.insert(each, blank, 0))) for each in lengths)
    return first, second if "cross" in able else first


def _options(backend: Backend, problem: Problem, features: frozenset[str], rng: RandomState) -> dict[str, Any]:
    """Among eight seeds in a row, each two claimed keywords are both on, both off, and each on alone, twice.

    An orthogonal array of strength 2: Hedayat, Sloane & Stufken 1999, theorem 3.1.
    """
    _, heads, kv_heads, *_ = problem.shape
    axes, options = Axes(1, heads, kv_heads, len(problem.query), len(problem.key)), dict[str, Any]()
    for column, keyword in enumerate(KEYWORDS, 1):
        settings = [setting(axes, rng, problem.query.dtype) for setting in SETTINGS[keyword].values()]
        fits = [s for s in settings if _able(backend, features | problem.with_options(**options, **s).features)]
        if (problem.seed & column).bit_count() % 2 and claims(backend, keyword) and fits:
            options |= fits[rng.randint(len(fits))]
    return options


def native(backend: Backend, pack: Pack) -> dict[str, Any]:
    """The arguments by name, arrays as native ones."""
    named = {name: getattr(pack, name) for name in ARGUMENTS} | dict(pack.options)
    arrays = backend.arrays
    return {n: arrays.asarray(v, backend.device) if isinstance(v, np.ndarray) else v for n, v in named.items()}


def call(backend: Backend, pack: Pack, arguments: Mapping[str, Any]) -> Array:
    """What comes for native arguments, in NumPy: (T, Hq, Dv). Malformed if it is no such array."""
    keywords = {name: value for name, value in arguments.items() if name not in ARGUMENTS}
    with backend.guarded(pack.features):
        returned = backend.functions[NAME](*(arguments[name] for name in ARGUMENTS), **keywords)
        if backend.arrays.is_array(returned):
            backend.arrays.synchronize(returned)
    if not backend.arrays.is_array(returned):
        raise Malformed(f"{NAME}: wanted one array, came a {type(returned).__name__}", pack.features)
    output = backend.arrays.to_numpy(returned)
    wanted = (*pack.query.shape[:2], pack.value.shape[2]), str(pack.query.dtype)
    if (output.shape, str(output.dtype)) != wanted:
        came = f"{output.dtype}{output.shape}"
        raise Malformed(f"{NAME}: wanted {wanted[1]}{wanted[0]}, came {came}, for {pack}", pack.features)
    return output


def solve(backend: Backend, pack: Pack) -> Array:
    """What the backend gives for the pack."""
    return call(backend, pack, native(backend, pack))


def exact(backend: Backend, pack: Pack) -> tuple[Floats, Floats]:
    """(T, Hq, Dv): the exact output, sequence by sequence, and the error bound."""
    outputs = [backend.solution(problem).output for problem in pack.sequences]
    bounds = [backend.bound(problem).output for problem in pack.sequences]
    return in_a_row(outputs), in_a_row(bounds)


def in_a_row(arrays: list[Floats]) -> Floats:
    """(T, H, D) of (1, H, n, D) for each sequence."""
    return np.concatenate([array[0].swapaxes(0, 1) for array in arrays])
