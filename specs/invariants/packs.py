"""What the invariants about packs share: what is done with a pack's tokens, offsets and gradients."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.random import RandomState

from attnspec.specs.backend import Backend, BackendError, Malformed
from attnspec.specs.catalogue import hold
from attnspec.specs.malformed import Bands, refusal
from attnspec.specs.oracle import Floats
from attnspec.specs.packing import NAME, Pack, call, exact, in_a_row, native, solve
from attnspec.specs.packs import cut
from attnspec.specs.problem import Array, Problem, generator


def draws(problem: Problem) -> RandomState:
    """For what an invariant draws: other numbers than those that the lengths come from."""
    return generator(problem.seed, 0x9ACCED)


def filled(array: Array, places: Array, number: float) -> Array:
    """The tokens with ``number`` at some ``places`` (n)."""
    return np.where(places[:, None, None], np.asarray(number, array.dtype), array)


def ids(offsets: Array) -> Array:
    """Which sequence each token is of."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def ranges(pack: Pack) -> Iterator[tuple[slice, slice]]:
    """Where the queries and the keys of each sequence stand."""
    for b in range(len(pack.sequences)):
        first, second = (slice(o[b], o[b + 1]) for o in (pack.query_offsets, pack.key_offsets))
        yield first, second


def with_segments(pack: Pack) -> Problem:
    """The pack as one problem whose segments are the sequences."""
    query, key, value = (array.swapaxes(0, 1)[None] for array in (pack.query, pack.key, pack.value))
    segments = {"query_segments": ids(pack.query_offsets)[None], "key_segments": ids(pack.key_offsets)[None]}
    return Problem(query, key, value, {**pack.options, **segments})


def hold_reordered(backend: Backend, pack: Pack, *orders: Array) -> float:
    """The sequences in other orders against the sequences in this."""
    wanted, bound, ratios = solve(backend, pack), exact(backend, pack)[1], []
    for order in orders:
        other, places = pack.reordered(order)
        what = f"output of {other}, in another order than {pack},"
        ratios.append(hold(what, solve(backend, other), wanted[places], 2 * bound[places]))
    return max(ratios)


def cut_otherwise(pack: Pack) -> Iterator[tuple[str, Pack]]:
    """What is particular, and the tokens cut anew: into no sequence, one, twelve, and some of equal lengths."""
    queries, keys, rng = len(pack.query), len(pack.key), RandomState(len(pack.query))
    if "zero_size" in pack.features:
        emptied = {name: getattr(pack, name)[:0] for name in ("query", "key", "value")}
        zero = pack.query_offsets[:1]
        yield "no sequence", pack.replace(**emptied, query_offsets=zero, key_offsets=zero)
    for count in (1, MANY):
        cuts = [cut(rng, tokens, count, empty="zero_size" in pack.features) for tokens in (queries, keys)]
        yield f"sequences: {count}", _with_offsets(pack, *cuts)
    equal = [np.linspace(0, tokens, EQUAL + 1).astype(np.int64) for tokens in (queries, keys)]
    yield "equal lengths", _with_offsets(pack, *equal)


MANY, EQUAL = 12, 5


def _with_offsets(pack: Pack, queries: Array, keys: Array) -> Pack:
    keys = keys if "cross" in pack.features else queries
    return pack.replace(
        **{
            name: each.astype(getattr(pack, name).dtype)
            for name, each in (("query_offsets", queries), ("key_offsets", keys))
        }
    )


def malformed(pack: Pack) -> Iterator[tuple[str, dict[str, Array]]]:
    """What is wrong, and the offsets; the pack has two tokens of each kind at least."""
    for name in ("query_offsets", "key_offsets"):
        offsets: Array = getattr(pack, name)
        end = offsets[-1]
        inner = np.r_[0, np.clip(offsets[1:-1], 1, end - 1), end].astype(offsets.dtype)
        wrong = {
            "from 1": np.maximum(inner, 1),
            "from below 0": np.r_[-1, inner[1:]],
            "to one less than there are tokens": np.minimum(inner, end - 1),
            "to more than there are tokens": np.r_[inner[:-1], 2 * end],
            "that fall": np.r_[0, end, 0, inner[3:]],
            "of one sequence less": np.delete(inner, 1),
            "of one sequence more": np.insert(inner, 1, 0),
            "of no sequence": inner[:0],
        }
        yield from ((f"{name} {what}", {name: each.astype(offsets.dtype)}) for what, each in wrong.items())


def refused(backend: Backend, pack: Pack, what: str, offsets: Mapping[str, Array]) -> Array | None:
    """The output if the call with other offsets gives one, None if it is refused.

    Violation if it breaks off, or writes beside its arguments, which stand between bands of NaN if there are views.
    """
    arguments, bands = native(backend, pack.replace(**offsets)), Bands(backend, np.nan)
    if backend.supports(frozenset({"views"})):
        arguments |= {n: bands.around(a) for n, a in arguments.items() if backend.arrays.is_array(a)}
    try:
        output = call(backend, pack, arguments)
    except Malformed:
        raise
    except BackendError as error:
        bands.hold(f"with {what}: ")
        refusal(what, error)
        return None
    bands.hold(f"with {what}: ")
    return output


def pulled_back(backend: Backend, pack: Pack, cotangent: Array) -> tuple[Array, ...]:
    """The gradients of ⟨output, cotangent⟩ by query, key and value as the backend gives them."""
    arguments = native(backend, pack)
    inputs = [arguments.pop(name) for name in ("query", "key", "value")]

    def function(query: Any, key: Any, value: Any) -> Any:
        return backend.functions[NAME](query, key, value, **arguments)

    back = backend.arrays.asarray(cotangent.astype(pack.query.dtype), backend.device)
    with backend.guarded(pack.features | {"gradient"}):
        _, gradients = backend.arrays.gradient(function, inputs, back)
        backend.arrays.synchronize(gradients)
        return tuple(backend.arrays.to_numpy(gradient) for gradient in gradients)


def exact_gradients(backend: Backend, pack: Pack, cotangent: Array) -> tuple[list[Floats], list[Floats]]:
    """Of query, key and value: the exact gradients and their error bounds, sequence by sequence."""
    wanted, bounds = [], []
    for (queries, _), sequence in zip(ranges(pack), pack.sequences, strict=True):
        back = np.asarray(cotangent[queries].swapaxes(0, 1)[None], np.float64)
        wanted.append(backend.solution(sequence).gradients(back))
        bounds.append(backend.bound(sequence).gradients(back))
    first, second = ([in_a_row(list(each)) for each in zip(*some, strict=True)] for some in (wanted, bounds))
    return first, second
