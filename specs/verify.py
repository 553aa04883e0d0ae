"""Holding a backend to the catalogue: one outcome an invariant, each failure at its smallest problem.

The way of the data: a recipe is drawn, cooked into a problem, given to the backend, held to an invariant; what comes
out is an Outcome. First the survey (what is claimed works, what is lacking raises), then the conventions (they are as
declared), then everything else under the conventions that were observed, so that one wrong line is told once.
"""

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.catalogue import FIRST, Inapplicable, Invariant, Violation, catalogue
from attnspec.specs.contract import TRANSFORMS
from attnspec.specs.conventions import Contradiction
from attnspec.specs.plan import PLAINEST, plan, with_values
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import Recipe
from attnspec.specs.settings import SETTINGS, keywords
from attnspec.specs.simplify import SIMPLER_DTYPES, simplest
from attnspec.specs.survey import Finding, idle_lacks, missing_claims, recipes_with
from attnspec.specs.values import DISTRIBUTIONS

PASSED, FAILED, KNOWN, NOT_CLAIMED, NEVER_RAN = "passed", "failed", "known issue", "not claimed", "never ran"


@dataclass(frozen=True)
class Profile:
    """How much a run does: problems drawn beyond the plan for each invariant, and plan rows for costly invariants."""

    name: str
    drawn: int
    costly: int
    planned: int | None = None
    """How many rows of the plan; None is all."""
    derandomize: bool = True


PROFILES = {
    "quick": Profile("quick", drawn=0, costly=2, planned=16),
    "default": Profile("default", drawn=12, costly=3),
    "thorough": Profile("thorough", drawn=400, costly=64),
}


@dataclass(frozen=True)
class Failure:
    """What is shown of a violation: the smallest problem, as JSON too, and what was wanted and came."""

    message: str
    case: str
    problem: Problem
    lacks: tuple[str, ...] = ()
    """The LACKS entries that would disclaim what raised."""
    conventions: Mapping[str, Any] = field(default_factory=dict)
    """The CONVENTIONS that would declare what the backend does."""


@dataclass(frozen=True)
class Outcome:
    """One invariant's verdict on one backend."""

    invariant: str
    status: str
    problems: int = 0
    seconds: float = 0.0
    worst: dict[str, float] = field(default_factory=dict)
    """The largest error ÷ bound seen, for each dtype."""
    failure: Failure | None = None
    reason: str = ""


def recipes(invariant: Invariant, backend: Backend, profile: Profile) -> Iterator[Recipe]:
    """The rows of the plan that the invariant is about, then Hypothesis's own draws over the same shapes."""
    rows = fitting(invariant, backend, plan_of(backend)[: profile.planned])
    rows = rows or fitting(invariant, backend, plan_of(backend))
    yield from rows
    if rows and profile.drawn and not costs(invariant, backend):
        yield from _drawn(rows, profile)


ENOUGH, ENOUGH_COMPILED = 60, 6
"""Rows are fitted to an invariant until so many are about it."""


def fitting(invariant: Invariant, backend: Backend, rows: Sequence[Recipe]) -> list[Recipe]:
    """The rows that the invariant is about, and those that are once options are added or taken away for it."""
    fit = [row for row in rows if invariant.takes(backend, row.problem().features)]
    enough = ENOUGH_COMPILED if backend.arrays.RUNS_COMPILED else ENOUGH
    for row in (_fitted(invariant, row) for row in rows):
        if len(fit) < enough and row not in fit and invariant.takes(backend, row.problem().features):
            fit.append(row)
    return fit


def _fitted(invariant: Invariant, row: Recipe) -> Recipe:
    """The row with the options that the invariant needs, and without those it must not have."""
    for option, named in SETTINGS.items():
        if keywords(option) & invariant.without:
            row = row.with_settings(**{option: None})
        elif keywords(option) & invariant.needs and option not in dict(row.settings):
            row = row.with_settings(**{option: list(named)[row.seed % len(named)]})
    return row


def _drawn(rows: Sequence[Recipe], profile: Profile) -> Iterator[Recipe]:
    for row, values, seed in draws(profile):
        yield with_values(rows[row % len(rows)], values, seed)


@lru_cache
def draws(profile: Profile) -> list[tuple[int, str, int]]:
    """Hypothesis's draws: (row, distribution, seed) for problems beyond the plan, the same for every invariant."""
    drawn: list[tuple[int, str, int]] = []

    @settings(
        max_examples=profile.drawn,
        derandomize=profile.derandomize,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 999), st.sampled_from(list(DISTRIBUTIONS)), st.integers(0, 999))
    def collect(row: int, values: str, seed: int) -> None:
        drawn.append((row, values, seed))

    collect()
    return drawn


def plan_of(backend: Backend) -> tuple[Recipe, ...]:
    """The backend's plan, made once for each set of lacks."""
    key = ("plan", backend.declaration.lacks)
    if key not in backend.memo:
        backend.memo[key] = plan(backend)
    rows: tuple[Recipe, ...] = backend.memo[key]
    return rows


def verify(backend: Backend, profile: Profile, patterns: Iterable[str] = (), shrink: bool = True) -> Iterator[Outcome]:
    """Hold the backend to all invariants that the patterns choose, in the catalogue's order.

    The survey and the conventions come first whatever is chosen: the rest goes by what they find.
    ValueError for a pattern or a known issue that matches no invariant.
    """
    wanted = {invariant.id: invariant for invariant in chosen(patterns)}
    for outcome, seen in foundations(backend, profile, shrink):
        backend = seen
        if outcome.invariant in wanted:
            yield outcome
        if outcome.failure and outcome.invariant == "contract.claims" and not outcome.failure.lacks:
            return
    for invariant in wanted.values():
        if invariant.family not in FIRST:
            yield strict(backend, examine(invariant, backend, profile, shrink))


def foundations(backend: Backend, profile: Profile, shrink: bool = True) -> Iterator[tuple[Outcome, Backend]]:
    """Outcomes of the contract and of the conventions, each with the backend as it has shown itself by then."""
    check_issues(backend)
    backend, outcomes = surveyed(backend, profile)
    for outcome in outcomes:
        yield strict(backend, outcome), backend
    for invariant in (invariant for invariant in catalogue().values() if invariant.family == "convention"):
        outcome = examine(invariant, backend, profile, shrink)
        if outcome.failure:
            backend = backend.assuming(conventions={**backend.conventions, **outcome.failure.conventions})
        yield strict(backend, outcome), backend


def expected(backend: Backend, patterns: Iterable[str] = ()) -> list[str]:
    """The ids that ``verify`` gives outcomes for, in order."""
    return [invariant.id for invariant in chosen(patterns)]


def strict(backend: Backend, outcome: Outcome) -> Outcome:
    """The outcome in the light of the declared known issues: a failure is known, and a pass an error."""
    reason = backend.declaration.known_issues.get(outcome.invariant)
    if reason is None:
        return outcome
    if outcome.status == FAILED:
        return replace(outcome, status=KNOWN, reason=reason)
    return replace(outcome, status=FAILED, reason=f"declared a known issue, but it {outcome.status}: {reason}")


def check_issues(backend: Backend) -> None:
    """ValueError for a known issue that names no invariant; the declaration has checked those that name features."""
    for issue in backend.declaration.known_issues:
        if "." in issue and issue not in catalogue():
            raise ValueError(f"KNOWN_ISSUES: wanted ids of invariants or features, came {issue!r}")


def surveyed(backend: Backend, profile: Profile) -> tuple[Backend, list[Outcome]]:
    """The backend less what raises and what is known to fail, and the outcomes of the contract family."""
    start, faults = time.perf_counter(), backend.declaration.known_faults
    narrowed, findings = missing_claims(backend.assuming(lacks=backend.declaration.lacks | set(faults)))
    claims = _contract("contract.claims", backend, start, [_claim_failure(findings)] if findings else [])
    start = time.perf_counter()
    idle = [_idle_failure(*found) for found in idle_lacks(backend)]
    lacks = _contract("contract.lacks", backend, start, idle[:1])
    start = time.perf_counter()
    mended = [features for features in faults if not _still_fails(backend, features, profile)]
    known = _contract("contract.known_issues", backend, start, [_mended_failure(backend, f) for f in mended[:1]])
    if not faults:
        known = replace(known, status=NOT_CLAIMED)
    elif known.status == PASSED:
        known = replace(known, status=KNOWN, reason="; ".join(f"{'+'.join(sorted(f))}: {r}" for f, r in faults.items()))
    return narrowed, [claims, lacks, known]


def _still_fails(backend: Backend, features: frozenset[str], profile: Profile) -> bool:
    """Whether some invariant of the definition, the shape or the transform is violated where a fault is known."""
    transforms = features & frozenset(TRANSFORMS)
    able = backend.assuming(lacks=frozenset(lack for lack in backend.declaration.lacks if not lack <= features))
    for recipe in recipes_with(backend, features):
        for invariant in catalogue().values():
            about = transforms & invariant.needs if transforms else invariant.family in ("definition", "shape")
            if about and _fails(invariant, able, recipe.problem()):
                return True
    return False


def _mended_failure(backend: Backend, features: frozenset[str]) -> Failure:
    name, recipes = "+".join(sorted(features)), recipes_with(backend, features)
    recipe = recipes[0] if recipes else PLAINEST
    message = f"KNOWN_ISSUES: wanted {name} to fail as declared, came right results"
    return Failure(message, recipe.to_json(), recipe.problem())


def _contract(id: str, backend: Backend, start: float, failures: list[Failure]) -> Outcome:
    seconds, failure = time.perf_counter() - start, failures[0] if failures else None
    return Outcome(id, FAILED if failure else PASSED, len(plan_of(backend)), seconds, failure=failure)


def _claim_failure(findings: list[Finding]) -> Failure:
    first, lacks = findings[0], tuple(finding.entry for finding in findings if finding.lack)
    told = "; ".join(f"{finding.entry or 'the plainest problem'}: {finding.message}" for finding in findings)
    message = f"wanted what the signature claims, came {told}"
    return Failure(message, first.recipe.to_json(), first.recipe.problem(), lacks)


def _idle_failure(entry: str, recipe: Recipe, came: str) -> Failure:
    message = f"LACKS: wanted an error for {entry!r} as declared, came {came}"
    return Failure(message, recipe.to_json(), recipe.problem())


def examine(invariant: Invariant, backend: Backend, profile: Profile, shrink: bool = True) -> Outcome:
    """Hold the backend to one invariant."""
    if not invariant.concerns(backend):
        return Outcome(invariant.id, NOT_CLAIMED)
    start, count, worst = time.perf_counter(), 0, dict[str, float]()
    enough = profile.costly if costs(invariant, backend) else None
    for case in itertools.chain(cases(invariant, backend, profile), bare(invariant, backend)):
        if count == enough or (count and isinstance(case, Bare)):
            break
        problem = case if isinstance(case, Problem) else case.problem()
        try:
            ratio = invariant.check(backend, problem)
        except Inapplicable:
            continue
        except (Violation, BackendError):
            failure = _failure(invariant, backend, case, shrink)
            return Outcome(invariant.id, FAILED, count + 1, time.perf_counter() - start, worst, failure)
        count += 1
        worst[problem.dtype] = max(worst.get(problem.dtype, 0.0), ratio)
    status = PASSED if count else NOT_CLAIMED if invariant.probes else NEVER_RAN
    return Outcome(invariant.id, status, count, time.perf_counter() - start, worst)


def costs(invariant: Invariant, backend: Backend) -> bool:
    """Whether most problems cost a compilation of their own, so that few must do."""
    return "compile" in invariant.needs or (invariant.costly and backend.arrays.RUNS_COMPILED)


class Bare(Recipe):
    """A recipe without options, for an invariant that no other said anything about."""


def bare(invariant: Invariant, backend: Backend) -> Iterator[Bare]:
    """The plan's shapes with only the options that the invariant needs."""
    for row in () if invariant.probes else plan_of(backend):
        row = _fitted(invariant, replace(row, settings=()))
        if invariant.takes(backend, row.problem().features):
            yield Bare(row.shape, row.dtype, row.values, row.seed, row.settings)


def cases(invariant: Invariant, backend: Backend, profile: Profile) -> Iterator[Recipe | Problem]:
    """The invariant's own probes, each in the first dtype that is claimed, or recipes."""
    if not invariant.probes:
        yield from recipes(invariant, backend, profile)
        return
    for probe in invariant.probes:
        problems = (probe(dtype) for dtype in sorted(backend.declaration.dtypes, key=SIMPLER_DTYPES.index))
        yield from itertools.islice((p for p in problems if invariant.takes(backend, p.features)), 1)


def replay(backend: Backend, id: str, problem: Problem) -> Outcome:
    """One invariant on one problem. ValueError if there is no such invariant."""
    if id not in catalogue():
        raise ValueError(f"invariant: wanted the id of one, such as {next(iter(catalogue()))}, came {id!r}")
    start = time.perf_counter()
    try:
        ratio = catalogue()[id].check(backend, problem)
    except Inapplicable:
        return Outcome(id, NEVER_RAN, reason="the invariant says nothing about this problem")
    except (Violation, BackendError) as error:
        failure = _told(error, problem, problem.to_json())
        return strict(backend, Outcome(id, FAILED, 1, time.perf_counter() - start, failure=failure))
    return Outcome(id, PASSED, 1, time.perf_counter() - start, {problem.dtype: ratio})


def _failure(invariant: Invariant, backend: Backend, case: Recipe | Problem, shrink: bool) -> Failure:
    """The failure at the smallest problem, looked at again."""
    if isinstance(case, Recipe):
        smallest = simplest(case, lambda recipe: _fails(invariant, backend, recipe.problem())) if shrink else case
        problem, text = smallest.problem(), smallest.to_json()
    else:
        problem, text = case, case.to_json()
    try:
        invariant.check(backend, problem)
    except (Violation, BackendError) as error:
        return _told(error, problem, text)
    return Failure("failed once and held when looked at again: the result depends on what went before", text, problem)


def _fails(invariant: Invariant, backend: Backend, problem: Problem) -> bool:
    if not invariant.takes(backend, problem.features):
        return False
    try:
        invariant.check(backend, problem)
    except (Violation, BackendError):
        return True
    except Inapplicable:
        pass
    return False


def _told(error: Violation | BackendError, problem: Problem, case: str) -> Failure:
    if isinstance(error, BackendError):
        lack = "+".join(sorted(error.features))
        return Failure(f"{error}; asked for {lack}", case, problem, (lack,))
    conventions = {error.name: error.value} if isinstance(error, Contradiction) else {}
    return Failure(str(error), case, problem, conventions=conventions)


def chosen(patterns: Iterable[str]) -> list[Invariant]:
    """The invariants whose ids match any of the shell-style patterns, all if there are none.

    ValueError for a pattern that matches nothing.
    """
    wanted = list(patterns)
    for pattern in wanted:
        if not any(matches(pattern, id) for id in catalogue()):
            raise ValueError(f"invariant: wanted the id of one, such as {next(iter(catalogue()))}, came {pattern!r}")
    return [i for i in catalogue().values() if not wanted or any(matches(p, i.id) for p in wanted)]


def matches(pattern: str, id: str) -> bool:
    """Whether a pattern such as "softmax.*" or a family's name covers an id."""
    return fnmatchcase(id, pattern) or id.split(".")[0] == pattern


def largest(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """The largest error ÷ bound for each dtype over all outcomes."""
    worst: dict[str, float] = {}
    for outcome in outcomes:
        for dtype, ratio in outcome.worst.items():
            worst[dtype] = float(np.maximum(worst.get(dtype, 0.0), ratio))
    return worst
