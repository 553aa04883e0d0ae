"""What a run goes by: the outcomes of the contract's own invariants, and the backend as it turns out to be."""

import time
from dataclasses import replace

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.cases import plan_of
from attnspec.specs.catalogue import Invariant, catalogue
from attnspec.specs.contract import TRANSFORMS
from attnspec.specs.durations import lap
from attnspec.specs.examine import fails
from attnspec.specs.outcome import FAILED, KNOWN, NOT_CLAIMED, PASSED, Failure, Outcome
from attnspec.specs.plan import PLAINEST
from attnspec.specs.recipe import Recipe
from attnspec.specs.survey import Finding, aside_from, here, idle_lacks, missing_claims, otherwise_set, recipes_with


def check_issues(backend: Backend) -> None:
    """ValueError for a known issue that names no invariant; the declaration has checked those that name features."""
    for issue in backend.declaration.known_issues:
        if "." in issue and issue not in catalogue():
            raise ValueError(f"KNOWN_ISSUES: wanted ids of invariants or features, came {issue!r}")


@np.errstate(all="ignore")
def surveyed(backend: Backend, partial: bool = False) -> tuple[Backend, list[Outcome]]:
    """The backend less what raises and what is known to fail, and the outcomes of the contract family.

    partial: dtypes are left out, in which a known issue may show.
    """
    faults = {
        features: reason for features, reason in backend.declaration.known_faults.items() if here(backend, features)
    }
    start = time.perf_counter()
    narrowed, findings = missing_claims(backend.assuming(lacks=backend.declaration.lacks | set(faults)))
    failures = [_claim_failure(findings)] if findings else []
    claims = _contract("contract.claims", len(plan_of(backend)), start, failures)
    start, lacks = time.perf_counter(), [lack for lack in backend.declaration.lacks if here(backend, lack)]
    idle = [_idle_failure(*found) for found in idle_lacks(backend)]
    lacking = _contract("contract.lacks", len(lacks), start, idle[:1])
    start = time.perf_counter()
    seen = {features: reason for features, reason in faults.items() if still_failing(backend, features)}
    mended = [] if partial else [_mended_failure(backend, features) for features in faults if features not in seen]
    known = _contract("contract.known_issues", len(seen), start, mended[:1])
    if known.status == PASSED:
        known = replace(known, status=KNOWN, reason="; ".join(f"{'+'.join(sorted(f))}: {r}" for f, r in seen.items()))
    return narrowed, [claims, lacking, known]


def still_failing(backend: Backend, features: frozenset[str]) -> tuple[Invariant, Recipe] | None:
    """The first invariant of the definition, the shape or the transform that is violated where a fault is known.

    With other numbers and further options than the features name, only if it holds without those features.
    """
    able, recipes = _asked_for(backend, features)
    transforms = features & frozenset(TRANSFORMS)

    def violated(recipe: Recipe) -> Invariant | None:
        for invariant in catalogue().values():
            about = transforms & invariant.needs if transforms else invariant.family in ("definition", "shape")
            if about and fails(invariant, able, recipe.problem()):
                return invariant
        return None

    for recipe in recipes:
        if found := violated(recipe):
            return found, recipe
    for recipe in (other for plain in recipes for other in otherwise_set(able, plain)):
        if (found := violated(recipe)) and not violated(aside_from(recipe, features)):
            return found, recipe
    return None


def _asked_for(backend: Backend, features: frozenset[str]) -> tuple[Backend, list[Recipe]]:
    """Recipes that ask for the features, without the other known faults if there are any such; the backend for them."""
    declaration = backend.declaration
    for lacks in (declaration.lacks | set(declaration.known_faults), declaration.lacks):
        able = backend.assuming(lacks=lacks).claiming(features)
        if recipes := recipes_with(able, features):
            break
    return able, recipes


def _mended_failure(backend: Backend, features: frozenset[str]) -> Failure:
    name, (_, recipes) = "+".join(sorted(features)), _asked_for(backend, features)
    came = "right results" if recipes else "lacks that rule it out"
    recipe = recipes[0] if recipes else PLAINEST
    return Failure(f"KNOWN_ISSUES: wanted {name} to fail as declared, came {came}", recipe.problem())


def _contract(id: str, count: int, start: float, failures: list[Failure]) -> Outcome:
    status = FAILED if failures else PASSED if count else NOT_CLAIMED
    return Outcome(
        id, status, count, time.perf_counter() - start, failure=failures[0] if failures else None, parts=lap()
    )


def _claim_failure(findings: list[Finding]) -> Failure:
    first, lacks = findings[0], tuple(finding.entry for finding in findings if finding.lack)
    lines = [f"{finding.entry or 'the plainest problem'}: {finding.message}" for finding in findings]
    message = "\n".join([f"wanted what the signature claims, came {lines[0]}", *(f"and {line}" for line in lines[1:])])
    return Failure(message, first.recipe.problem(), lacks)


def _idle_failure(entry: str, recipe: Recipe, came: str) -> Failure:
    message = f"LACKS: wanted an error for {entry!r} as declared, came {came}"
    return Failure(message, recipe.problem())
