"""What several families of invariants share: comparing results with the oracle and with each other."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnspec.specs.backend import Backend, Result
from attnspec.specs.catalogue import Inapplicable, Violation, hold
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Array, Problem, generator, lifted

EQUATION_1 = "Vaswani et al. 2017, Attention Is All You Need, eq. 1"

Rows = NDArray[np.bool_]

INPUTS = ("query", "key", "value")

PARTS = ("output", "weights", "lse")

POSITIONS = ("is_causal", "window", "alibi_slopes", "key_lengths")
"""Options that depend on where a key stands; without them order does not matter."""


def require(condition: bool) -> None:
    """Inapplicable unless ``condition``."""
    if not condition:
        raise Inapplicable


def part(source: Any, name: str) -> Array:
    """output or weights with four axes, lse with three; ``source`` is a Result, a Solution or a Bound."""
    array: Array = getattr(source, name)
    return array.reshape((1,) * (3 - array.ndim) + array.shape) if name == "lse" else lifted(array)


def asked(problem: Problem) -> tuple[str, ...]:
    """Which parts a result for ``problem`` has."""
    return tuple(name for name in PARTS if name == "output" or problem.options.get(f"return_{name}"))


def hold_result(
    backend: Backend, problem: Problem, result: Result, parts: Iterable[str] | None = None, what: str = ""
) -> float:
    """The result against the oracle."""
    solution, bound = backend.solution(problem), backend.bound(problem)
    names = asked(problem) if parts is None else parts
    return max(hold(f"{what}{n}", part(result, n), part(solution, n), part(bound, n)) for n in names)


def slack(backend: Backend, *problems: Problem, name: str = "output") -> Floats:
    """How far apart two correct results may be: the sum of both bounds (of one problem, twice its bound)."""
    first, second = problems if len(problems) == 2 else problems * 2
    return np.asarray(part(backend.bound(first), name) + part(backend.bound(second), name))


def hold_same(
    backend: Backend, problem: Problem, came: Result, wanted: Result, what: str = "", rows: Rows | None = None
) -> float:
    """Two results for problems with the same answer against each other; the bound is ``problem``'s, twice.

    ``rows`` (B, Hq, L) are those to look at, all without it.
    """
    ratios = [0.0]
    for name in asked(problem):
        first, second, limit = part(came, name), part(wanted, name), slack(backend, problem, name=name)
        if rows is not None and first.shape == second.shape:
            first = np.where(rows if name == "lse" else rows[..., None], first, second)
        ratios.append(hold(f"{what}{name}", first, second, limit))
    return max(ratios)


def same_bits(first: Array, second: Array) -> bool:
    """Whether shape, dtype and every bit are the same."""
    return first.shape == second.shape and first.dtype == second.dtype and first.tobytes() == second.tobytes()


def integral(array: Array) -> Array:
    """The nearest integers within ±3: sums and small products of them are exact in every dtype."""
    clipped = np.clip(np.nan_to_num(np.asarray(array, np.float64)), -3, 3)
    return np.rint(clipped).astype(array.dtype)


def other_values(problem: Problem, like: Array) -> Array:
    """Different numbers of the same shape and dtype, fixed by the problem's seed."""
    rng = generator(problem.seed, 0x0D1FF)
    return rng.standard_normal(like.shape).astype(like.dtype)


def renumbered(problem: Problem) -> Problem:
    """The problem with other numbers in query, key and value, fixed by its seed."""
    return problem.replace(**{name: other_values(problem, getattr(problem, name)) for name in INPUTS})


@contextlib.contextmanager
def unchanged(backend: Backend, named: Mapping[str, Any]) -> Iterator[None]:
    """Violation if what is done inside changes a bit of one of these native arrays."""
    before = {name: backend.arrays.to_numpy(array) for name, array in named.items()}
    yield
    for name, array in named.items():
        if not same_bits(backend.arrays.to_numpy(array), before[name]):
            raise Violation(f"{name}: wanted it unchanged, came back changed")


def averaging(backend: Backend, problem: Problem) -> Rows:
    """(B, Hq, L): empty rows that average all values by convention, hidden or not."""
    solution, conventions = backend.solution(problem), backend.conventions
    by_bias = solution.emptied_by_bias
    means = np.where(by_bias, conventions["empty_row_bias"] == "mean", conventions["empty_row"] == "mean")
    return np.asarray(solution.empty & means)


def hidden_everywhere(backend: Backend, problem: Problem) -> Rows:
    """(B, Hkv, S): keys that no query of any head that reads them may attend to, or averages."""
    solution = backend.solution(problem)
    batch, _, kv_heads, _, keys, *_ = problem.shape
    read = solution.seen | averaging(backend, problem)[..., None]
    seen = np.zeros((batch, kv_heads, keys), bool)
    for head in range(kv_heads):
        seen[:, head] = read[:, solution.kv_head == head].any(axis=(1, 2))
    return ~seen


def poisoned(problem: Problem, places: Rows, payload: float, where: str) -> Problem:
    """The problem with ``payload`` at some keys (``where`` "key") or values ("value"); places (B, Hkv, S)."""
    array = np.array(getattr(problem, where))
    lifted(array)[places] = payload
    return problem.replace(**{where: array})


def unread(backend: Backend, problem: Problem) -> tuple[Rows, Rows]:
    """Places (B, Hkv, S) and the rows (B, Hq, L) that read none of them: all hidden keys, and one key that is not."""
    places = hidden_everywhere(backend, problem)
    if problem.shape[4]:
        places[..., problem.rng.randint(problem.shape[4])] = True
    solution = backend.solution(problem)
    spoiled = places[:, solution.kv_head][:, :, None]  # (B, Hq, 1, S)
    reads = (solution.seen & spoiled).any(-1) | averaging(backend, problem)
    require(bool((~reads).any()) and bool(places.any()))
    return places, ~reads


def with_keys(problem: Problem, index: Any) -> Problem:
    """The problem with only, or in the order of, the keys that ``index`` picks, and every option along with them."""
    options = dict(problem.options)
    for name in {"mask", "bias", "key_segments"} & set(options):
        if options[name].ndim and options[name].shape[-1] > 1:
            options[name] = options[name][..., index]
    return problem.replace(key=problem.key[..., index, :], value=problem.value[..., index, :], options=options)
