"""A failure is looked at again: what does not show a second time depends on what went before."""

from dataclasses import replace

import pytest

from attnspec.loading import load
from attnspec.specs.cases import PROFILES
from attnspec.specs.catalogue import Inapplicable, Violation, catalogue
from attnspec.specs.examine import examine
from attnspec.specs.outcome import FAILED


@pytest.mark.parametrize("shrink", [True, False])
@pytest.mark.parametrize("later", ["holds", "says nothing"])
def test_a_failure_that_does_not_come_again_is_told_as_such(later, shrink):
    seen = []

    def check(backend, problem):
        seen.append(problem)
        if len(seen) == 1:
            raise Violation("once")
        if later == "says nothing":
            raise Inapplicable
        return 0.0

    invariant = replace(catalogue()["definition.output"], check=check)
    outcome = examine(invariant, load("numpy_naive"), PROFILES["quick"], shrink)
    assert outcome.status == FAILED
    assert outcome.failure.message.startswith("failed once and held when looked at again")
