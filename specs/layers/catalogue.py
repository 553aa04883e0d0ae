"""The invariants of layers: what one is, all of them, and holding a layer library to them."""

import inspect
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from attnspec.specs.catalogue import Inapplicable, Violation, gathered
from attnspec.specs.contract import first_line
from attnspec.specs.layers.case import Case, cases
from attnspec.specs.layers.library import Library, Missing
from attnspec.specs.outcome import FAILED, NEVER_RAN, NOT_CLAIMED, PASSED, Outcome

Check = Callable[[Library, Case], float]


@dataclass(frozen=True)
class LayerInvariant:
    """A named property of layers. ``check`` raises Violation or returns the largest error ÷ bound that it saw."""

    id: str
    sentence: str
    formula: str
    source: str
    catches: tuple[str, ...]
    """Public reports, as owner/repository#number."""
    check: Check
    suits: Callable[[Case], bool]
    """Which cases it is tried on."""


def anywhere(case: Case) -> bool:
    """Every case."""
    return True


def once(case: Case) -> bool:
    """The first case alone: what depends neither on the dtype nor on the place of LayerNorm."""
    return case.dtype == "float64" and not case.norm_first


def per_dtype(case: Case) -> bool:
    """A case for each dtype: what does not depend on the place of LayerNorm."""
    return not case.norm_first


def either(case: Case) -> bool:
    """Each dtype and each place of LayerNorm once: for what takes long to compile."""
    return (case.dtype == "float32") != case.norm_first


def layer_invariant(
    name: str, *, formula: str, source: str, catches: Iterable[str] = (), suits: Callable[[Case], bool] = anywhere
) -> Callable[[Check], LayerInvariant]:
    """Make a check into the invariant ``layers.<name>``; the function's docstring is its sentence."""

    def wrap(check: Check) -> LayerInvariant:
        sentence = " ".join(inspect.cleandoc(check.__doc__ or "").split())
        return LayerInvariant(f"layers.{name}", sentence, formula, source, tuple(catches), check, suits)

    return wrap


@cache
def layer_catalogue() -> dict[str, LayerInvariant]:
    """Every invariant of layers by id, module by module."""
    from attnspec.specs.layers import invariants

    return gathered(invariants, LayerInvariant)


def verify_layers(library: Library, ids: Iterable[str], dtypes: Iterable[str] = (), seed: int = 0) -> Iterator[Outcome]:
    """An outcome for each of the invariants, in order; ``dtypes`` narrows the cases."""
    wanted = tuple(dtypes)
    chosen = [case for case in cases(seed) if not wanted or case.dtype in wanted]
    for id in ids:
        yield examine_layers(layer_catalogue()[id], library, chosen)


@np.errstate(all="ignore")
def examine_layers(invariant: LayerInvariant, library: Library, tried: Iterable[Case]) -> Outcome:
    """Hold the library to one invariant, up to the first case that violates it."""
    start, count, worst = time.perf_counter(), 0, dict[str, float]()
    for case in filter(invariant.suits, tried):
        try:
            ratio = checked(invariant, library, case)
        except Inapplicable as why:
            return Outcome(invariant.id, NOT_CLAIMED if isinstance(why, Missing) else NEVER_RAN, reason=str(why))
        except Violation as violation:
            seconds = time.perf_counter() - start
            return Outcome(invariant.id, FAILED, count + 1, seconds, worst, reason=f"{case}: {violation}")
        count += 1
        worst[case.dtype] = max(worst.get(case.dtype, 0.0), ratio)
    return Outcome(invariant.id, PASSED if count else NOT_CLAIMED, count, time.perf_counter() - start, worst)


def checked(invariant: LayerInvariant, library: Library, case: Case) -> float:
    """What the check gives; one that breaks off does not hold."""
    try:
        return invariant.check(library, case)
    except (Violation, Inapplicable):
        raise
    except Exception as error:
        cause = f"{type(error).__name__}: {first_line(error)}"
        message = "wanted a result that can be compared, came one on which the check broke off"
        raise Violation(f"{message}: {cause}") from error
