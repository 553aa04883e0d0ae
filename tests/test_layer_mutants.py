"""Every faulty layer library is found out by the invariant that is there for it, and every invariant by one of them."""

import re
from functools import cache
from pathlib import Path

import pytest

from attnspec.layers import load
from attnspec.specs.layers.case import cases
from attnspec.specs.layers.catalogue import examine_layers, layer_catalogue
from attnspec.specs.outcome import FAILED, Outcome
from attnspec.targets import find

MUTANTS = {path.stem: path for path in sorted((Path(__file__).parent / "mutants" / "layers").glob("[!_]*.py"))}


@cache
def verdict(id: str, name: str) -> Outcome:
    """The outcome of one invariant for a mutant."""
    if find(MUTANTS[name]).ARRAYS != "numpy":
        pytest.importorskip(find(MUTANTS[name]).ARRAYS)
    return examine_layers(layer_catalogue()[id], load(str(MUTANTS[name]), None), cases())


def source(name):
    """KILLED_BY and REPORTS as the file says, for one that needs a framework too."""
    text = MUTANTS[name].read_text(encoding="utf-8")
    return re.search(r'^KILLED_BY = "(.*)"', text, re.M)[1], re.findall(r'"([^"]+#\d+)"', text)


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_killed(name, kill_matrix):
    id, reports = source(name)
    outcome = verdict(id, name)
    kill_matrix((name, reports, outcome))
    assert outcome.status == FAILED, f"{outcome.invariant} {outcome.status} it"
    assert "raised" not in outcome.reason  # it is wrong, not broken


DRAWN = [name for name in MUTANTS if 'ARRAYS = "numpy"' in MUTANTS[name].read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", DRAWN)
def test_mutant_is_killed_whatever_the_numbers(name):
    invariant, library = layer_catalogue()[source(name)[0]], load(str(MUTANTS[name]), None)
    assert examine_layers(invariant, library, cases(seed=1)).status == FAILED


def test_every_invariant_is_there_for_a_mutant():
    assert set(layer_catalogue()) == {source(name)[0] for name in MUTANTS}


CAUGHT = [(id, report) for id, invariant in layer_catalogue().items() for report in invariant.catches]


@pytest.mark.parametrize(("id", "report"), CAUGHT)
def test_invariant_catches_the_reports_it_names(id, report):
    planted = [name for name in MUTANTS if report in source(name)[1]]
    assert any(verdict(id, name).status == FAILED for name in planted)


def test_every_report_that_a_mutant_names_is_one_that_an_invariant_catches():
    assert {report for name in MUTANTS for report in source(name)[1]} == {report for _, report in CAUGHT}


def test_reports_have_links():
    assert [report for _, report in CAUGHT if not re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", report)] == []
