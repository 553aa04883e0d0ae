"""Correct implementations with harmless differences pass everything: whatever flags one is a defect of the suite."""

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


@pytest.mark.parametrize("name", CONTROLS)
def test_control_passes(name):
    outcomes = verify(load(CONTROLS[name]), PROFILES["default"])
    flagged = {o.invariant: o.failure or o.status for o in outcomes if o.status not in (PASSED, NOT_CLAIMED)}
    assert flagged == {}


def test_controls_name_reports_of_no_fault():
    named = {id for path in CONTROLS.values() for id in getattr(find(path), "REPORTS", ())}
    assert named <= {id for id, report in REPORTS.items() if report.kind is not None}
