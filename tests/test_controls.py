"""Correct implementations with harmless differences pass everything: whatever flags one is a defect of the suite."""

from dataclasses import replace
from pathlib import Path

import pytest

from attnspec.loading import load
from attnspec.specs.cases import PROFILES
from attnspec.specs.outcome import NOT_CLAIMED, PASSED
from attnspec.specs.reports import REPORTS
from attnspec.specs.verify import verify
from attnspec.targets import find

FOLDERS = ("controls", "mutants/correct")
CONTROLS = {path.stem: path for folder in FOLDERS for path in sorted((Path(__file__).parent / folder).glob("[!_]*.py"))}


QUARTER = replace(PROFILES["default"], drawn=2, spread=14)
"""The default profile with a quarter of its problems: there are many controls, and the backends see all of it."""

SEEDS = (1, 2, 3)


def flagged(name, profile):
    outcomes = verify(load(CONTROLS[name]), profile)
    return {o.invariant: o.failure or o.status for o in outcomes if o.status not in (PASSED, NOT_CLAIMED)}


@pytest.mark.parametrize("name", CONTROLS)
def test_control_passes(name):
    assert flagged(name, QUARTER) == {}


@pytest.mark.parametrize("name", CONTROLS)
def test_control_passes_whatever_the_numbers(name):
    profiles = (replace(PROFILES["quick"], spread=4, seed=seed) for seed in SEEDS)
    assert [flagged(name, profile) for profile in profiles] == [{}] * len(SEEDS)


def test_controls_name_reports_of_no_fault():
    named = {id for path in CONTROLS.values() for id in getattr(find(path), "REPORTS", ())}
    assert named <= {id for id, report in REPORTS.items() if report.kind is not None}
