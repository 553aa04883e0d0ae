"""The contract's part for packed sequences: several of unequal lengths, one behind the other, without padding.

A module may have, beside ``attention``, this function; a keyword that it does not have is not claimed.

``attend_packed(query, key, value, query_offsets, key_offsets, *, is_causal=False, scale=None, window=None,
softcap=None, alibi_slopes=None, sinks=None)`` gives the output (T, Hq, Dv) of query (T, Hq, Dk), key (S, Hkv, Dk) and
value (S, Hkv, Dv), in their dtype; heads stand behind tokens whatever the convention ``layout``. The offsets are
integers (N + 1), int32 or int64, that rise from 0 to T and from 0 to S, as in flash-attention's
``flash_attn_varlen_func`` (Dao 2023, FlashAttention-2; there ``cu_seqlens``). Other types of integers
are refused, or mean the same. Sequence b has the queries from
query_offsets[b] to before query_offsets[b + 1], and the keys likewise; it may have none of either.

Each sequence is attended as by ``attention`` on its own, with the keywords and conventions of that: is_causal, window
and ALiBi count positions within the sequence, and ``causal_alignment`` holds for its own lengths. A lack of
``zero_size`` rules out empty sequences, one of ``cross`` other numbers of queries than of keys; ``one_key`` and
``long_rows`` are about ``attention`` alone. Malformed offsets raise ValueError. The function is called as it is, not
compiled: offsets have values that can be looked at.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from attnspec.specs.backend import Backend, Malformed
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Array, Problem

NAME = "attend_packed"

ARGUMENTS = ("query", "key", "value", "query_offsets", "key_offsets")


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
        return tuple(self._one(slice(*queries), slice(*keys)) for queries, keys in bounds)

    def _one(self, queries: slice, keys: slice) -> Problem:
        query, key, value = (a.swapaxes(0, 1)[None] for a in (self.query[queries], self.key[keys], self.value[keys]))
        return Problem(query, key, value, self.options)

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


def _places(offsets: Array, order: Array) -> Array:
    ranges = [np.arange(offsets[b], offsets[b + 1]) for b in order]
    return np.concatenate([np.zeros(0, np.int64), *ranges])


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
    nothing = np.zeros((1, pack.query.shape[1], 0, pack.value.shape[2]))  # for a pack of no sequence
    outputs = [backend.solution(problem).output for problem in pack.sequences]
    bounds = [backend.bound(problem).output for problem in pack.sequences]
    return in_a_row([nothing, *outputs]), in_a_row([nothing, *bounds])


def in_a_row(arrays: list[Floats]) -> Floats:
    """(T, H, D) of (1, H, n, D) for each sequence."""
    return np.concatenate([array[0].swapaxes(0, 1) for array in arrays])
