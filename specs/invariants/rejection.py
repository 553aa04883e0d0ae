"""Rejection: malformed input is refused, or read in the only way that it can be; nothing beyond it is touched.

Where an axis of size 1 meets a longer one, repeating it is a reading. A call without a reading must be refused;
``malformed`` says which errors refuse.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from attnspec.specs.backend import Backend, Result
from attnspec.specs.catalogue import Invariant, Probe, invariant
from attnspec.specs.invariants.common import PARTS, hold_same, require, same_bits
from attnspec.specs.malformed import Bands, Call, refused
from attnspec.specs.problem import Array, Problem, numpy_dtype
from attnspec.specs.recipe import Recipe, Shape

CONTRACT = "attnspec contract: malformed input raises ValueError"

SQUARE, OBLONG = Shape(4, 3, 3, 5, 5, 6, 6), Shape(4, 3, 3, 5, 7, 6, 2)
"""Sizes that differ wherever they may; not every backend takes the second."""

REPEATED = "the result with the axis of size 1 repeated"

Malform = Callable[[Backend, Problem], Iterator[Call]]


def _rejection(id: str, *, formula: str, probes: tuple[Probe, ...], **more: Any) -> Callable[[Malform], Invariant]:
    """Make an invariant of the malformed calls that a probe is turned into; the docstring is the sentence."""

    def wrap(malform: Malform) -> Invariant:
        @functools.wraps(malform)
        def check(backend: Backend, problem: Problem) -> float:
            recipes = (Recipe(shape).problem() for shape in (SQUARE, OBLONG))
            require(problem.query.ndim == 4 and problem.shape in [recipe.shape for recipe in recipes])
            return refused(backend, problem, malform(backend, problem))

        return invariant(f"rejection.{id}", formula=formula, source=CONTRACT, probes=probes, **more)(check)

    return wrap


def _probes(**settings: str) -> tuple[Probe, ...]:
    def probe(shape: Shape) -> Probe:
        return lambda dtype: Recipe(shape, dtype, "gaussian", 1).with_settings(**settings).problem()

    return probe(SQUARE), probe(OBLONG)


def _inputs(problem: Problem) -> dict[str, Array]:
    return {name: getattr(problem, name) for name in ("query", "key", "value")}


def _sized(array: Array, axis: int, size: int) -> Array:
    """The array with another size along an axis: cut, or begun again."""
    return np.asarray(np.take(array, np.arange(size) % array.shape[axis], axis=axis))


def _resized(problem: Problem, axis: int, **sizes: int) -> Problem:
    """The problem with another size along an axis of some of query, key and value."""
    return problem.replace(**{name: _sized(getattr(problem, name), axis, size) for name, size in sizes.items()})


@_rejection("lengths", formula="S of key ≠ S of value ⟹ error", probes=_probes())
def lengths(backend: Backend, problem: Problem) -> Iterator[Call]:
    """A value that is longer or shorter than its key is refused."""
    size = problem.shape[4]
    for n in (size + 1, 2 * size, size - 1):
        yield Call(f"a value of {n} positions and a key of {size}", _resized(problem, 2, value=n))
    for name in ("key", "value"):
        once = _resized(problem, 2, **{name: 1})
        what = f"a {name} of 1 position for {size} of the other"
        yield Call(what, once, _resized(once, 2, **{name: size}), REPEATED)


@_rejection("width", formula="D of query ≠ D of key ⟹ error", probes=_probes())
def width(backend: Backend, problem: Problem) -> Iterator[Call]:
    """A key that is wider or narrower than the query is refused."""
    size = problem.shape[5]
    for n in (size + 1, 2 * size, size - 1):
        yield Call(f"a key of width {n} and a query of {size}", _resized(problem, 3, key=n))


@_rejection("heads", formula="Hkv ∤ Hq, or heads of key ≠ heads of value ⟹ error", probes=_probes())
def heads(backend: Backend, problem: Problem) -> Iterator[Call]:
    """Key/value heads that do not divide the query's, or are more, or differ, are refused."""
    for numbers in ((3, 2, 2), (3, 4, 4), (2, 4, 4), (3, 3, 2), (3, 2, 3)):
        yield _headed(problem, *numbers)
    for numbers in ((1, 3, 3), (3, 3, 1), (3, 1, 3)):
        yield _headed(problem, *numbers, repeated=True)


@_rejection("no_heads", formula="Hkv = 0 < Hq ⟹ error", catches=("H6",), probes=_probes())
def no_heads(backend: Backend, problem: Problem) -> Iterator[Call]:
    """A query with heads is refused if key and value have none."""
    yield _headed(problem, 3, 0, 0)


def _headed(problem: Problem, query: int, key: int, value: int, repeated: bool = False) -> Call:
    arguments = _resized(problem, 1, query=query, key=key, value=value)
    reading = _resized(arguments, 1, query=3, key=3, value=3) if repeated else None
    return Call(f"{query} query, {key} key and {value} value heads", arguments, reading, REPEATED)


@_rejection("batch", formula="B of query, key and value differ ⟹ error, or the 1 is repeated", probes=_probes())
def batch(backend: Backend, problem: Problem) -> Iterator[Call]:
    """Batches of different sizes are refused; one sample may stand for each of the others."""
    unequal = [(4, 3, 3), (4, 2, 2), (4, 8, 8), (2, 4, 4), (4, 4, 3), (4, 4, 2), (4, 3, 4)]
    for query, key, value in [*unequal, (4, 1, 1), (1, 4, 4), (4, 4, 1), (4, 1, 4)]:
        arguments = _resized(problem, 0, query=query, key=key, value=value)
        reading = _resized(arguments, 0, query=4, key=4, value=4) if 1 in (query, key, value) else None
        what = f"a batch of {query} queries, {key} keys and {value} values"
        yield Call(what, arguments, reading, REPEATED)


@_rejection("rank", formula="query, key, value not all of 2, 3 or 4 axes ⟹ error, or they broadcast", probes=_probes())
def rank(backend: Backend, problem: Problem) -> Iterator[Call]:
    """Arrays of unequal rank, or of one axis or five, are refused or broadcast."""
    query, key, value = problem.query, problem.key, problem.value
    shared, one = "the result with the missing axis repeated", _resized(problem, 0, key=1, value=1)
    arguments = problem.replace(key=key[0], value=value[0])
    yield Call("a query of 4 axes, key and value of 3", arguments, _resized(one, 0, key=4, value=4), shared)
    reading = _resized(_resized(problem, 0, query=1), 0, query=4)
    yield Call("a query of 3 axes, key and value of 4", problem.replace(query=query[0]), reading, shared)
    deep = problem.replace(**{name: array.reshape(2, 2, *array.shape[1:]) for name, array in _inputs(problem).items()})
    shape = (*deep.query.shape[:-1], value.shape[-1])
    yield Call("a batch of two axes", deep, problem, "the result for each of its samples", shape)
    row = problem.replace(query=query[0, 0, 0], key=key[0, 0], value=value[0, 0])
    reading = row.replace(query=row.query[None])
    yield Call("a query of 1 axis, key and value of 2", row, reading, "that of one query", value.shape[-1:])
    yield Call("a key of 1 axis", problem.replace(key=key[0, 0, 0]))
    numbers = value[0, 0, :, 0]  # (S)
    reading = problem.replace(value=np.broadcast_to(numbers[:, None], (*value.shape[:-1], 1)))
    what, meaning = "a value of 1 axis", "the result of one number a key"
    yield Call(what, problem.replace(value=numbers), reading, meaning, query.shape[:-1])
    flat = {name: array[0, 0, 0] for name, array in _inputs(problem).items()}
    yield Call("query, key and value of 1 axis", problem.replace(**flat))


@_rejection(
    "mask_shape",
    formula="mask or bias does not broadcast to (B, Hq, L, S) ⟹ error",
    any_of={"mask", "bias"},
    probes=_probes(mask="full") + _probes(bias="full"),
)
def mask_shape(backend: Backend, problem: Problem) -> Iterator[Call]:
    """A mask or bias that does not broadcast to the scores is refused; a fifth axis of size 1 may be dropped."""
    name = "mask" if "mask" in problem.options else "bias"
    full = problem.options[name]
    one = full[0, 0]  # (L, S)
    wrong = [_sized(one, 1, one.shape[1] + 1), one[:, :-1], _sized(one, 0, one.shape[0] + 1), one[:2]]
    wrong += [full[:, 0, 0], full[:, 0], full[:, :2], full[:2], full[0, :2], np.stack([full, full])]
    for array in wrong:
        yield Call(f"a {name} of shape {array.shape}", problem.with_options(**{name: array}))
    arguments = problem.with_options(**{name: full[None]})
    yield Call(f"a {name} of shape {full[None].shape}", arguments, problem, "the result without its first axis")


@_rejection(
    "mask_dtype",
    formula="mask in {0, 1} ⟹ 1 may attend; mask in {0, −∞} ⟹ added; or error",
    catches=("C5", "C9"),
    needs={"mask"},
    probes=_probes(mask="full"),
)
def mask_dtype(backend: Backend, problem: Problem) -> Iterator[Call]:
    """A mask that is not boolean is refused, or zeros and ones are read as booleans and zeros and −∞ added."""
    seen = np.array(problem.options["mask"])
    seen[..., 0] = True  # no row is empty
    told = seen if backend.conventions["mask"] == "attend" else ~seen
    reading, floating = problem.with_options(mask=seen), numpy_dtype(problem.dtype)
    for dtype in (np.dtype(np.int64), np.dtype(np.uint8), floating):
        arguments = problem.with_options(mask=told.astype(dtype))
        yield Call(f"a mask of 0 and 1 in {dtype}", arguments, reading, "the result of False and True")
    added = np.where(seen, 0, -np.inf).astype(floating)
    reading = problem.with_options(mask=None, bias=added)
    yield Call(f"a mask of 0 and -inf in {floating}", problem.with_options(mask=added), reading, "that of a bias")


@_rejection(
    "dtypes",
    formula="dtypes differ ⟹ error, or A in the widest of them within the narrowest's bound",
    probes=_probes(),
)
def dtypes(backend: Backend, problem: Problem) -> Iterator[Call]:
    """Query, key and value of different dtypes or devices are refused, or the result is that of the widest dtype."""
    for other in ("float64", "float32", "float16"):
        for name in ("query", "key", "value") if other != problem.dtype else ():
            yield _mixed(problem, name, other)
    for name in ("query", "key", "value") if backend.device != "cpu" else ():
        yield Call(f"{name} alone on the CPU", problem, problem, "the result", apart=name)


def _mixed(problem: Problem, name: str, other: str) -> Call:
    """One of query, key and value in another dtype."""
    mixed = problem.replace(**{name: getattr(problem, name).astype(other)})
    narrowest, widest = sorted((problem.dtype, other), key=lambda dtype: numpy_dtype(dtype).itemsize)
    widest = "float32" if numpy_dtype(widest).itemsize == 2 else widest  # float16 and bfloat16 have none of theirs
    reading = mixed.replace(**{n: array.astype(widest) for n, array in _inputs(mixed).items()})
    what = f"{name} in {other}, the others in {problem.dtype}"
    return Call(what, mixed, reading, f"the result in {widest}", coarsest=narrowest)


@_rejection(
    "integers",
    formula="query, key, value integers ⟹ error, or A of the same numbers in floating point",
    probes=_probes(),
)
def integers(backend: Backend, problem: Problem) -> Iterator[Call]:
    """Query, key and value of integers are refused, or attended to without cutting the result to integers."""
    whole = {name: np.rint(array).astype(np.int32) for name, array in _inputs(problem).items()}
    reading = problem.replace(**{name: array.astype(np.float32) for name, array in whole.items()})
    yield Call("query, key and value in int32", problem.replace(**whole), reading, "the result of the same numbers")


@_rejection(
    "key_lengths",
    formula="key_lengths not (B,) integers ≥ 0 ⟹ error, or j < length as it stands",
    needs={"key_lengths"},
    probes=_probes(key_lengths="ragged"),
)
def key_lengths(backend: Backend, problem: Problem) -> Iterator[Call]:
    """Lengths too few, too many, below 0 or not whole in dtype are refused, or hide the keys that the formula says."""
    given = problem.options["key_lengths"]
    first, below = given[:1], given - np.array([0, given[1] + 1, given[2] + 2, 0])
    readings: list[tuple[Array, Array | None, str]] = [(_sized(given, 0, n), None, "") for n in (5, 3, 2, 8)]
    readings += [(first, np.repeat(first, 4), REPEATED), (first[0], np.repeat(first, 4), REPEATED)]
    readings += [(given[:, None], given, "that of (4,)"), (below, np.maximum(below, 0), "no key seen below 0")]
    readings += [(given.astype(np.float64), given, "that of the integers")]
    for array, meant, meaning in readings:
        reading = None if meant is None else problem.with_options(key_lengths=meant)
        what = f"key_lengths {array.tolist()} in {array.dtype} for a batch of 4"
        yield Call(what, problem.with_options(key_lengths=array), reading, meaning)


@_rejection(
    "segments",
    formula="query_segments not (B, L) or key_segments not (B, S) ⟹ error",
    needs={"query_segments", "key_segments"},
    probes=_probes(segments="packed"),
)
def segments(backend: Backend, problem: Problem) -> Iterator[Call]:
    """Segments of queries without those of keys, or of the wrong number, are refused."""
    names = ("query_segments", "key_segments")
    for name, other in (names, names[::-1]):
        yield Call(f"{name} alone", problem.with_options(**{other: None}))
        array = problem.options[name]
        wrong = [_sized(array, 1, array.shape[1] + 1), array[:, :-1], array[:3], array[:2], _sized(array, 0, 8)]
        for each in [*wrong, array[0, :2]]:
            yield Call(f"{name} of shape {each.shape}", problem.with_options(**{name: each}))
        once, reading = array[:1], problem.with_options(**{name: np.repeat(array[:1], 4, axis=0)})
        yield Call(f"{name} of shape {once.shape}", problem.with_options(**{name: once}), reading, REPEATED)


@_rejection(
    "per_head",
    formula="sinks or alibi_slopes not (Hq,) ⟹ error",
    any_of={"sinks", "alibi_slopes"},
    probes=_probes(sinks="gaussian") + _probes(alibi_slopes="powers"),
)
def per_head(backend: Backend, problem: Problem) -> Iterator[Call]:
    """More or fewer sinks or slopes than there are heads are refused; one may stand for all."""
    name = "sinks" if "sinks" in problem.options else "alibi_slopes"
    array = problem.options[name]
    for n in (4, 2, 6, 1):
        reading = problem.with_options(**{name: np.repeat(array[:1], 3)}) if n == 1 else None
        yield Call(f"{n} {name} for 3 heads", problem.with_options(**{name: _sized(array, 0, n)}), reading, REPEATED)


@_rejection("window", formula="window is not a pair ⟹ error", needs={"window"}, probes=_probes(window="both"))
def window(backend: Backend, problem: Problem) -> Iterator[Call]:
    """A window that is no pair of bounds is refused; bounds between integers may be meant as the formula has it."""
    for wrong in ((2,), (1, 0, 2), 2, 0):
        yield Call(f"window={wrong}", problem.with_options(window=wrong))
    halves, reading = (problem.with_options(window=bounds) for bounds in ((1.5, 0.5), (1, 0)))
    yield Call("window=(1.5, 0.5)", halves, reading, "that of window=(1, 0)")


@_rejection(
    "dropout_rate", formula="p not in [0, 1] ⟹ error", claims={"dropout_rate"}, probes=_probes(dropout_rate="zero")
)
def dropout_rate(backend: Backend, problem: Problem) -> Iterator[Call]:
    """A dropout rate that is no probability is refused, though there is a seed."""
    seed = {"seed": 1} if backend.supports(problem.features | {"seed"}) else {}
    for wrong in (-0.5, 1.5, float("nan")):
        yield Call(f"dropout_rate={wrong}", problem.with_options(dropout_rate=wrong, **seed))


@invariant(
    "rejection.guard_bands",
    formula="A(x within poison) = A(x), the poison unchanged",
    source="an array ends where its shape says",
    needs={"views"},
)
def guard_bands(backend: Backend, problem: Problem) -> float:
    """What lies before or behind an argument in memory is neither read nor written."""
    inputs, extras, plain = backend.native(problem)
    function = backend.positional(tuple(extras), plain, backend.runs_compiled(problem))
    arguments, huge = [*inputs, *extras.values()], bool(problem.seed % 2)
    wanted = backend.call(function, arguments, problem)
    bands, what = Bands(backend, np.inf if huge else np.nan), f"between {'the largest numbers' if huge else 'NaN'}, "
    came = backend.call(function, [bands.around(array) for array in arguments], problem)
    bands.hold(what)
    return 0.0 if _identical(came, wanted) else hold_same(backend, problem, came, wanted, what)


def _identical(first: Result, second: Result) -> bool:
    pairs = ((getattr(first, name), getattr(second, name)) for name in PARTS)
    return all(one is other or same_bits(one, other) for one, other in pairs)
