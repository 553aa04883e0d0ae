"""Which problems an invariant is tried on: its probes, or the plan's rows that it is about and Hypothesis's draws.

A row that an invariant says nothing about is fitted to it, by adding the options it needs and taking away others.
"""

import itertools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from numpy.random import RandomState

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import Invariant
from attnspec.specs.contract import DTYPES
from attnspec.specs.plan import plan, with_values
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import Recipe
from attnspec.specs.settings import SETTINGS, keywords
from attnspec.specs.simplify import SIMPLER_DTYPES
from attnspec.specs.values import DISTRIBUTIONS


@dataclass(frozen=True)
class Profile:
    """How much a run does: problems drawn beyond the plan for each invariant, and plan rows for costly invariants."""

    name: str
    drawn: int
    costly: int
    scores: float = float("inf")
    """Up to how many scores (L·S) a row of the plan may have, for other families than the definition."""
    spread: int | None = 56
    """How many of these rows, spread over the plan, for an invariant of such a family; None is all."""
    seed: int = 0
    """Shifts the numbers of the plan's rows, and Hypothesis's draws; 0 is what a run does unless told otherwise."""
    few: bool = False
    """Whether there are so few problems that they need not show a known issue."""
    partial: bool = False
    """Whether dtypes are left out in which a known issue may show."""

    @property
    def lenient(self) -> bool:
        """Whether a known issue may stay unseen."""
        return self.few or self.partial

    def shifted(self, row: Recipe) -> Recipe:
        """The row with the numbers of this profile's seed."""
        return replace(row, seed=(row.seed + SHIFT * self.seed) % 2**32)

    def reseeded(self, problem: Problem) -> Problem:
        """A probe with this profile's seed for whatever is drawn from it: its numbers are its own."""
        return problem.replace(seed=problem.seed + self.seed) if self.seed else problem


SHIFT = 1009
"""How far apart the seeds of a row are under two seeds of a profile: more than the plan has rows."""

PROFILES = {
    "quick": Profile("quick", drawn=0, costly=1, scores=600, spread=10, few=True),
    "default": Profile("default", drawn=8, costly=2),
    "thorough": Profile("thorough", drawn=640, costly=64, spread=None),
}


def cases(invariant: Invariant, backend: Backend, profile: Profile) -> Iterator[Recipe | Problem]:
    """The invariant's own probes, each in the first dtype that is claimed, or recipes."""
    if not invariant.probes:
        yield from recipes(invariant, backend, profile)
        return
    for probe in invariant.probes:
        problems = (
            profile.reseeded(probe(dtype)) for dtype in sorted(backend.declaration.dtypes, key=SIMPLER_DTYPES.index)
        )
        yield from itertools.islice((p for p in problems if invariant.takes(backend, p.features)), 1)


def recipes(invariant: Invariant, backend: Backend, profile: Profile) -> Iterator[Recipe]:
    """The rows of the plan that the invariant is about, then Hypothesis's own draws over the same shapes.

    Where most rows cost a compilation, few are taken, far apart in the plan, each with several distributions.
    Other numbers cost none: a profile that asks for all rows draws as many of them.
    """
    planned = plan_of(backend)
    if invariant.family != "definition":
        planned = tuple(row for row in planned if row.shape.queries * row.shape.keys <= profile.scores)
    rows = fitting(invariant, backend, planned) or fitting(invariant, backend, plan_of(backend))
    rows = [profile.shifted(row) for row in rows]
    if costs(invariant, backend):
        step = max(len(rows) // profile.costly, 1)
        apart = sorted(rows, key=lambda row: rows.index(row) % step)
        if "compile" in invariant.needs:
            apart = _blind_second(backend, apart)
        few = apart if profile.spread else apart[: profile.costly]
        for row in few:
            yield from (with_values(row, values, row.seed) for values in ("gaussian", "one-hot", row.values))
        if few and not profile.spread:
            yield from _drawn(few, profile, fresh=False)
        return
    if invariant.any_of:
        rows.sort(key=lambda row: not invariant.any_of & row.problem().features)
    rows = rows if invariant.family == "definition" else spread(rows, profile.spread or len(rows))
    yield from rows
    if rows and invariant.family == "gradient":
        widest = min(rows, key=lambda row: (DTYPES.index(row.dtype), len(row.settings)))
        yield with_values(widest, FAR, profile.seed)
    if rows and profile.drawn:
        drawn = _drawn(rows, profile, fresh=not backend.arrays.RUNS_COMPILED)
        yield from (recipe for recipe in drawn if invariant.takes(backend, recipe.problem().features))


FAR = "far-below"
"""Scores whose exponentials overflow if a backward pass takes them again without their row's largest."""


def _blind_second(backend: Backend, rows: list[Recipe]) -> list[Recipe]:
    """The rows, second the plainest in which a query sees no key: there compilers take other ways."""
    blind = [row for row in rows[1:] if backend.solution(row.problem()).empty.any()]
    plainest = sorted(blind, key=lambda row: len(row.settings))[:1]
    return list(dict.fromkeys([*rows[:1], *plainest, *rows]))


def spread(rows: list[Recipe], most: int) -> list[Recipe]:
    """At most so many of the rows, in order: one of each dtype, of each shape, of each setting, of each option in each
    dtype, then as far apart as may be.
    """
    numbered = list(enumerate(rows))[::-1]
    first: dict[Hashable, int] = {row.dtype: number for number, row in numbered}
    first |= {row.shape: number for number, row in numbered}
    seen = {met for number in first.values() for met in _met(rows[number])}
    telling = []
    for number, row in sorted(enumerate(rows), key=lambda row: row[1].shape.scores):  # the smallest that tells
        if not _met(row) <= seen:
            telling.append(number)
            seen |= _met(row)
    step = max(len(rows) / most, 1)
    apart = sorted(range(len(rows)), key=lambda number: number % step >= 1)
    kept = list(dict.fromkeys([*first.values(), *telling, *apart]))[:most]
    return [rows[number] for number in sorted(kept)]


def _met(row: Recipe) -> set[tuple[str, str]]:
    """Each setting of the row, and each of its options with its dtype; without options, that."""
    return {*row.settings, *((option, row.dtype) for option, _ in row.settings)} or {("no option", row.dtype)}


ENOUGH, ENOUGH_COMPILED = 48, 6
"""Rows are fitted to an invariant until so many are about it, and each shape is among them."""


def fitting(invariant: Invariant, backend: Backend, rows: Sequence[Recipe]) -> list[Recipe]:
    """The rows that the invariant is about, and those that are once options are added or taken away for it."""
    fit = [row for row in rows if invariant.takes(backend, row.problem().features)]
    enough = ENOUGH_COMPILED if backend.arrays.RUNS_COMPILED else ENOUGH
    shapes = {row.shape for row in fit}
    for row in sorted(rows, key=lambda row: row.shape in shapes):
        if len(fit) < enough or (row.shape not in shapes and not backend.arrays.RUNS_COMPILED):
            fitted = _fitted(invariant, row)
            if fitted not in fit and invariant.takes(backend, fitted.problem().features):
                fit.append(fitted)
                shapes.add(row.shape)
    return fit


def _fitted(invariant: Invariant, row: Recipe) -> Recipe:
    """The row with the options that the invariant needs, and without those it must not have."""
    for option, named in SETTINGS.items():
        if keywords(option) & invariant.without:
            row = row.with_settings(**{option: None})
        elif keywords(option) & invariant.needs and option not in dict(row.settings):
            row = row.with_settings(**{option: list(named)[row.seed % len(named)]})
    return row


def _drawn(rows: Sequence[Recipe], profile: Profile, fresh: bool) -> Iterator[Recipe]:
    """Rows with other numbers, and if ``fresh`` other settings of their options: those a JIT would compile anew."""
    for number, values, numbers in draws(profile):
        row = with_values(rows[number % len(rows)], values, numbers)
        for option, _ in row.settings if fresh else ():
            names = list(SETTINGS[option])
            row = row.with_settings(**{option: names[(number + numbers) % len(names)]})
        yield row


@lru_cache
def draws(profile: Profile) -> list[tuple[int, str, int]]:
    """Hypothesis's draws: (row, distribution, seed) for problems beyond the plan, the same for every invariant."""
    drawn: list[tuple[int, str, int]] = []

    @seed(profile.seed)
    @settings(
        max_examples=profile.drawn,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 2**32 - 1))
    def collect(number: int) -> None:
        rng = RandomState(number)  # spreads what Hypothesis draws, which crowds at the ends
        drawn.append((int(rng.randint(1000)), str(rng.choice(list(DISTRIBUTIONS))), int(rng.randint(1000))))

    collect()
    return drawn


def plan_of(backend: Backend) -> tuple[Recipe, ...]:
    """The backend's plan, made once for all backends that claim the same."""
    declared, arrays = backend.declaration, backend.arrays
    key = (
        declared.lacks,
        declared.dtypes,
        backend.options,
        backend.device,
        arrays.RUNS_COMPILED,
        frozenset(arrays.TRANSFORMS),
    )
    if key not in _PLANS:
        _PLANS[key] = plan(backend)
    return _PLANS[key]


_PLANS: dict[Hashable, tuple[Recipe, ...]] = {}


def costs(invariant: Invariant, backend: Backend) -> bool:
    """Whether most problems cost a compilation of their own, so that few must do."""
    return "compile" in invariant.needs or (invariant.costly and backend.arrays.RUNS_COMPILED)


def bare(invariant: Invariant, backend: Backend, profile: Profile) -> Iterator[Recipe]:
    """For an invariant that says nothing about its ``cases``: all rows of the plan that are about it, then the plan's
    shapes with only the options that it needs, then with each setting alone of those it is about.
    """
    if invariant.probes:
        return
    rows = [] if costs(invariant, backend) else fitting(invariant, backend, plan_of(backend))
    yield from map(profile.shifted, rows)
    about = (option for option in SETTINGS if keywords(option) <= invariant.any_of)
    alone = [(option, name) for option in about for name in SETTINGS[option]]
    for chosen, row in itertools.product([(), *((setting,) for setting in alone)], plan_of(backend)):
        row = profile.shifted(_fitted(invariant, replace(row, settings=chosen)))
        if invariant.takes(backend, row.problem().features):
            yield row
