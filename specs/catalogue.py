"""What an invariant is, and the catalogue of all of them.

A family is a module of ``attnspec.specs.invariants``; its invariants are its functions decorated with ``invariant``.
The docstring is the sentence: in the catalogue, in the failure message and in ``attnspec explain``.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Protocol, TypeVar

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.compare import worst
from attnspec.specs.contract import FUNCTIONS, TRANSFORMS
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Array, Problem


@dataclass(frozen=True, eq=False)
class Evidence:
    """The arrays that a violation was seen in."""

    came: Array
    wanted: Array
    bound: Array


class Violation(Exception):
    """An invariant does not hold: what was looked at, what was wanted, what came, by how much.

    ``evidence`` has the arrays, where it was seen in arrays; ``call`` the malformed call, if it was one.
    """

    def __init__(self, message: str, evidence: Evidence | None = None, call: Any = None) -> None:
        super().__init__(message)
        self.evidence = evidence
        self.call = call


class Inapplicable(Exception):
    """The invariant says nothing about this problem."""


class Waived(Inapplicable):
    """The invariant says nothing about this problem because of what the backend declares."""


Check = Callable[[Backend, Problem], float]
Probe = Callable[[str], Problem]


@dataclass(frozen=True)
class Invariant:
    """A named property. ``check`` raises Violation or returns the largest error ÷ bound that it saw."""

    id: str
    sentence: str
    formula: str
    source: str
    catches: tuple[str, ...]
    check: Check
    needs: frozenset[str] = frozenset()
    """Features that a problem must have for the invariant to say something."""
    without: frozenset[str] = frozenset()
    """Features that a problem must not have."""
    claims: frozenset[str] = frozenset()
    """Features that the backend must claim beside those of the problem."""
    any_of: frozenset[str] = frozenset()
    """Features of which the backend must claim one, if there are any here."""
    costly: bool = False
    """Whether it asks for sizes or options outside the plan: a JIT compiles them anew, so few must do."""
    probes: tuple[Probe, ...] = ()
    """Its own problems, by dtype, instead of the plan's; each in the first dtype within the backend's claims."""

    @property
    def family(self) -> str:
        """The part of the id before the dot."""
        return self.id.split(".")[0]

    def concerns(self, backend: Backend) -> bool:
        """Whether the backend claims everything that the invariant is about."""
        features = self.needs | self.claims
        alone = all(backend.supports(frozenset({feature})) for feature in features)
        any_of = not self.any_of or any(backend.supports(frozenset({feature})) for feature in self.any_of)
        return alone and any_of and backend.supports(self.needs)

    def takes(self, backend: Backend, features: frozenset[str]) -> bool:
        """Whether a problem with ``features`` is one for the invariant and within the backend's claims."""
        transforms = self.needs & frozenset(TRANSFORMS)
        functions = self.claims & frozenset(FUNCTIONS)
        fits = self.needs - transforms <= features and not self.without & features
        return fits and backend.supports(features | transforms | functions)


def invariant(
    id: str,
    *,
    formula: str,
    source: str,
    catches: Iterable[str] = (),
    needs: Iterable[str] = (),
    without: Iterable[str] = (),
    claims: Iterable[str] = (),
    any_of: Iterable[str] = (),
    costly: bool = False,
    probes: Iterable[Probe] = (),
) -> Callable[[Check], Invariant]:
    """Make a check into an invariant; the function's docstring is its sentence. ``catches``: ids of public reports."""

    def wrap(check: Check) -> Invariant:
        sentence = " ".join(inspect.cleandoc(check.__doc__ or "").split())
        sets = (frozenset(needs), frozenset(without), frozenset(claims), frozenset(any_of))
        return Invariant(id, sentence, formula, source, tuple(catches), check, *sets, costly, tuple(probes))

    return wrap


FIRST = ("contract", "convention")
"""The families that the rest goes by."""

CHEAP = ("definition", "shape", "rejection", "gradient", "derivative", "dropout", "heads", "range", "packing", "purity")
"""The families that come next, in this order, the others by name.

First those that kill most mutants in the least time, then those that alone kill mutants of slow array libraries.
"""


@cache
def catalogue() -> dict[str, Invariant]:
    """Every invariant by id, family by family."""
    from attnspec.specs import invariants

    order = (*FIRST, *CHEAP)
    return gathered(invariants, Invariant, lambda name: order.index(name) if name in order else len(order))


class Named(Protocol):
    """What has an id."""

    @property
    def id(self) -> str: ...


Kind = TypeVar("Kind", bound=Named)


def gathered(package: ModuleType, kind: type[Kind], place: Callable[[str], int] = lambda name: 0) -> dict[str, Kind]:
    """Every ``kind`` in the modules of ``package`` by id; modules by ``place``, then by name."""
    found: dict[str, Kind] = {}
    names = (info.name for info in pkgutil.iter_modules(package.__path__))
    for module in sorted(names, key=lambda name: (place(name), name)):
        for value in vars(importlib.import_module(f"{package.__name__}.{module}")).values():
            if isinstance(value, kind):
                assert value.id not in found, value.id
                found[value.id] = value
    return found


def hold(what: str, came: Array, wanted: Floats | Array, bound: Floats | float) -> float:
    """The largest error ÷ bound; Violation if it is above 1 or the shapes differ."""
    if came.shape != wanted.shape:
        raise Violation(f"{what}: wanted shape {wanted.shape}, came {came.shape}")
    difference = worst(came, wanted, bound)
    if difference is None:
        return 0.0
    if difference.ratio > 1:
        limit = np.broadcast_to(np.asarray(bound, np.float64), wanted.shape)
        raise Violation(f"{what} {difference}", Evidence(came, np.asarray(wanted), limit))
    return difference.ratio
