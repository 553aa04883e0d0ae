"""The contract's part for decoding with a cache of keys and values, and how a problem is fed through one.

A module may have, beside ``attention``, both of these; a keyword that they do not have is not claimed.

``make_cache(batch, kv_heads, capacity, key_dim, value_dim, dtype, *, window=None, block_size=None)`` gives an empty
cache, an object of the module's own. It takes ``capacity`` tokens a sequence; ``dtype`` is a name, such as "float32".
``window`` w asks for a ring: any number of tokens may come, and a token sees the last w, itself counted, that is keys
j with i − w < j ≤ i. Then capacity is w. ``block_size`` asks for pages of so many tokens, and a table of them for each
sequence; capacity may be rounded up to whole pages. Never are both asked for.

``attend_cached(query, key, value, cache, *, lengths=None, scale=None)`` gives (output, cache). key (B, Hkv, N, Dk) and
value (B, Hkv, N, Dv) are appended to what the cache holds. Token i of query (B, Hq, N, Dk) sees all that was in the
cache and the new tokens up to i; output (B, Hq, N, Dv). Layout, dtypes and the map of heads are those of ``attention``.
``lengths`` (B,), integers from 0 to N, says how many of the N are tokens of each sequence: the rest is padding, its
output is unspecified, and the next call goes on behind the last token. The caller goes on with the cache that was
returned; whether the one that was given has changed is the module's affair. Tokens without room raise ValueError.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from attnspec.specs.backend import Backend, BackendError, Malformed
from attnspec.specs.contract import has_keyword
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Array, Problem

FEATURES = frozenset({"attend_cached", "make_cache"})
"""The functions; a backend that lacks "attend_cached", or lacks it together with "gqa", need not mention the other."""


class Store(NamedTuple):
    """How a cache keeps its tokens: all in a row, the last ``window`` in a ring, or in pages of ``block_size``."""

    window: int | None = None
    block_size: int | None = None

    def __str__(self) -> str:
        if self.window is not None:
            return f"ring of {self.window}"
        return "cache" if self.block_size is None else f"cache in pages of {self.block_size}"


ROW = Store()


class Chunk(NamedTuple):
    """``size`` new tokens of each sequence, of which the first ``lengths`` are tokens; all without it."""

    size: int
    lengths: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return str(self.size) if self.lengths is None else f"{self.size} with lengths {list(self.lengths)}"


def claims(backend: Backend, keyword: str) -> bool:
    """Whether ``make_cache`` or ``attend_cached`` has the keyword."""
    return any(has_keyword(backend.functions[name], keyword) for name in FEATURES)


def chunks(sizes: Iterable[int]) -> list[Chunk]:
    """Chunks without padding."""
    return [Chunk(size) for size in sizes]


class Decoder:
    """A cache of the backend's, and how far each sequence has come; ``history`` says what was appended, in words."""

    def __init__(self, backend: Backend, problem: Problem, store: Store = ROW, capacity: int | None = None) -> None:
        batch, _, kv_heads, _, tokens, key_dim, value_dim = problem.shape
        self.backend, self.problem, self.store = backend, problem, store
        self.features = problem.features | {"attend_cached"}
        self.length = np.zeros(batch, np.int64)
        self.history: list[Chunk] = []
        asked = {name: value for name, value in store._asdict().items() if value is not None}
        sizes = (batch, kv_heads, store.window or capacity or tokens, key_dim, value_dim)
        with backend.guarded(problem.features | {"make_cache"}):
            self.cache = backend.functions["make_cache"](*sizes, problem.dtype, **asked)

    def __str__(self) -> str:
        return f"{self.store} after {', '.join(map(str, self.history)) or 'nothing'}"

    def native(self, chunk: Chunk, padding: float = 0.0) -> Any:
        """Append each sequence's next tokens, its padding filled with ``padding``; the output as it came."""
        place, real = self._places(chunk)
        query, key, value = (_gathered(array, place, real, padding) for array in _inputs(self.problem))
        arguments, _, keywords = self.backend.native(Problem(query, key, value, self.problem.options))
        if chunk.lengths is not None:
            lengths = np.asarray(chunk.lengths, np.int64)
            keywords["lengths"] = self.backend.arrays.asarray(lengths, self.backend.device)
        with self.backend.guarded(self.features):
            returned = self.backend.functions["attend_cached"](*arguments, self.cache, **keywords)
        output, self.cache = self._parts(returned)
        with self.backend.guarded(self.features):
            self.backend.arrays.synchronize(output)
        self.length = self.length + real.sum(-1)
        self.history.append(chunk)
        return output

    def _places(self, chunk: Chunk) -> tuple[Array, Array]:
        """(B, N): which token of its sequence stands there, and whether one does at all."""
        batch = len(self.length)
        lengths = np.asarray(chunk.lengths or (chunk.size,) * batch)
        return self.length[:, None] + np.arange(chunk.size), np.arange(chunk.size) < lengths[:, None]

    def _parts(self, returned: Any) -> tuple[Any, Any]:
        if not isinstance(returned, tuple) or len(returned) != 2:
            came = f"a tuple of {len(returned)}" if isinstance(returned, tuple) else f"a {type(returned).__name__}"
            raise Malformed(f"attend_cached: wanted a tuple of output and cache, came {came}", self.features)
        if not self.backend.arrays.is_array(returned[0]):
            library, came = self.backend.declaration.arrays, type(returned[0]).__name__
            raise Malformed(f"attend_cached: wanted a {library} array as output, came {came}", self.features)
        return returned

    def read(self, output: Any, size: int) -> Array:
        """An output in NumPy, layout BHLD."""
        batch, heads, *_, value_dim = self.problem.shape
        array = self.backend.laid_out(self.backend.arrays.to_numpy(output))
        wanted, came = (((batch, heads, size, value_dim), self.problem.dtype), (array.shape, str(array.dtype)))
        if came != wanted:
            wanted_text, came_text = (f"{dtype} {shape}" for shape, dtype in (wanted, came))
            raise Malformed(f"attend_cached: wanted an output of {wanted_text}, came {came_text}", self.features)
        return array

    def feed(self, plan: Iterable[Chunk], padding: float = 0.0) -> tuple[Array, Array]:
        """The outputs (B, Hq, T, Dv) of the problem's T tokens, and which of them (B, T) were fed; others are 0."""
        batch, heads, _, tokens, *_, value_dim = self.problem.shape
        output = np.zeros((batch, heads, tokens, value_dim), self.problem.query.dtype)
        fed = np.zeros((batch, tokens), bool)
        for chunk in plan:
            place, real = self._places(chunk)
            came = self.read(self.native(chunk, padding), chunk.size)
            sample, token = np.nonzero(real)
            output[sample, :, place[real]] = came[sample, :, token]
            fed[sample, place[real]] = True
        return output, fed


def _inputs(problem: Problem) -> tuple[Array, Array, Array]:
    return problem.query, problem.key, problem.value


def _gathered(array: Array, place: Array, real: Array, padding: float) -> Array:
    """(B, H, N, D): each sequence's tokens at ``place`` (B, N), ``padding`` where there is none."""
    index = np.minimum(place, array.shape[2] - 1)[:, None, :, None]
    return np.where(real[:, None, :, None], np.take_along_axis(array, index, axis=2), np.asarray(padding, array.dtype))


TOKENS = 9
"""How many tokens of a problem are decoded at most."""


@lru_cache(maxsize=512)
def sequence(problem: Problem, with_scale: bool = True, tokens: int = TOKENS) -> Problem:
    """The problem's first tokens, as many as have query, key and value, with no option but the scale."""
    *_, queries, keys, _, _ = problem.shape
    count = min(queries, keys, tokens)
    kept = ("scale",) if with_scale else ()
    options = {name: value for name, value in problem.options.items() if name in kept}
    query, key, value = (array[..., :count, :] for array in _inputs(problem))
    return Problem(query, key, value, options, problem.seed)


@lru_cache(maxsize=2048)
def _causal(problem: Problem, left: int | None) -> Problem:
    return problem.with_options(is_causal=True, window=None if left is None else (left, 0))


def whole(backend: Backend, problem: Problem, store: Store = ROW) -> tuple[Floats, Floats]:
    """(B, Hq, T, Dv): the exact outputs of causal attention over all of the problem, and the error bound."""
    counts = backend.conventions["window"] == "count"
    causal = _causal(problem, None if store.window is None else store.window - (0 if counts else 1))
    return backend.solution(causal).output, backend.bound(causal).output


def refusal(decoder: Decoder, chunk: Chunk) -> str:
    """What comes of a chunk that must be refused: the name of the exception, or "an output"."""
    try:
        decoder.native(chunk)
    except Malformed:
        raise
    except BackendError as error:
        return type(error.__cause__).__name__
    return "an output"
