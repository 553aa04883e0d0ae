"""Every mutant is killed by the invariant that is there for it, and every invariant is there for one."""

import re
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from write_coverage import planted

from attnspec.loading import load
from attnspec.specs.cases import PROFILES
from attnspec.specs.catalogue import catalogue
from attnspec.specs.examine import examine
from attnspec.specs.outcome import FAILED, Outcome
from attnspec.specs.reports import REPORTS
from attnspec.specs.verify import verify
from attnspec.targets import find

MUTANTS = {path.stem: path for path in sorted((Path(__file__).parent / "mutants").glob("[!_]*.py"))}


@cache
def verdict(id: str, name: str) -> Outcome:
    """The outcome of one invariant for a mutant; the contract's come out of the survey."""
    backend = load(MUTANTS[name])
    if id.startswith("contract."):
        return next(iter(verify(backend, PROFILES["default"], [id], shrink=False)))
    return examine(catalogue()[id], backend, PROFILES["default"], shrink=False)


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_killed(name, kill_matrix):
    mutant = find(MUTANTS[name])
    outcome = verdict(mutant.KILLED_BY, name)
    kill_matrix((name, mutant.REPORTS, outcome))
    assert outcome.status == FAILED, f"{mutant.__doc__} {outcome.invariant} {outcome.status} it"
    assert outcome.failure is not None
    raises = mutant.KILLED_BY == "contract.claims" or getattr(mutant, "RAISES", False)
    assert raises or " raised " not in outcome.failure.message  # it is wrong, not broken


SEEDS = (1, 2, 3)


DRAWN = [each.name for each in planted("mutants") if not each.killed_by.startswith("contract.")]


@pytest.mark.parametrize("name", DRAWN)
def test_mutant_is_killed_whatever_the_numbers(name):
    mutant = find(MUTANTS[name])
    backend, invariant = load(mutant), catalogue()[mutant.KILLED_BY]
    profiles = (replace(PROFILES["default"], seed=seed) for seed in SEEDS)
    assert [examine(invariant, backend, p, shrink=False).status for p in profiles] == [FAILED] * len(SEEDS)


def test_the_quick_profile_kills_most(kill_matrix):
    start, quick = time.perf_counter(), PROFILES["quick"]
    alive = []
    for each in planted("mutants"):
        backend = load(MUTANTS[each.name])
        tried = ["definition.output", "definition.weights", "definition.lse", each.killed_by]
        if not each.killed_by.startswith("contract.") and not any(
            examine(catalogue()[id], backend, quick, shrink=False).status == FAILED for id in tried
        ):
            alive.append(each.name)
    seconds = time.perf_counter() - start
    kill_matrix(f"killed by quick: at least {len(MUTANTS) - len(alive)} of {len(MUTANTS)}; {seconds:.0f} s")
    assert len(alive) <= 0.05 * len(MUTANTS), alive


def test_every_invariant_is_there_for_a_mutant():
    assert set(catalogue()) == {find(path).KILLED_BY for path in MUTANTS.values()}


def test_mutants_name_reports_of_faults():
    named = {id for path in MUTANTS.values() for id in find(path).REPORTS}
    assert named <= {id for id, report in REPORTS.items() if report.kind is None}


PLANTED = [(id, report) for id, invariant in catalogue().items() for report in invariant.catches]


@pytest.mark.parametrize(("id", "report"), PLANTED)
def test_invariant_catches_the_reports_it_names(id, report):
    planted = (name for name, path in MUTANTS.items() if report in find(path).REPORTS)
    assert any(verdict(id, name).status == FAILED for name in planted)


def test_reports_are_all_there():
    assert len(REPORTS) == 146
    assert [id for id in REPORTS if not re.fullmatch(r"[A-P]\d+", id)] == []
    assert [r.link for r in REPORTS.values() if not re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", r.link)] == []
    assert {r.kind for r in REPORTS.values()} == {None, "false alarm", "equivalent", "convention"}
