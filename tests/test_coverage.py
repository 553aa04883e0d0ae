"""docs/coverage.md says what the mutants, the controls and the reports say, and nothing is left out of it."""

from write_coverage import CONTROLS, FILE, document, planted

from attnspec.specs.reports import CLASSES, REPORTS, UNCOVERED

MUTANTS = planted("mutants")
PASSING = [each for folder in CONTROLS for each in planted(folder)]


def test_coverage_is_as_written():
    assert FILE.read_text(encoding="utf-8") == document() + "\n", "run: python tests/write_coverage.py"


def test_each_report_is_covered_or_has_a_reason_not_to_be():
    named = {id for each in (*MUTANTS, *PASSING) for id in each.reports}
    assert named & set(UNCOVERED) == set()
    assert named | set(UNCOVERED) == set(REPORTS)


def test_each_class_has_reports():
    assert {id[0] for id in REPORTS} == set(CLASSES)


def test_each_mutant_is_read_whole():
    assert all(each.killed_by for each in MUTANTS)
    assert not any(each.killed_by for each in PASSING)
