"""The survey: what is claimed and raises is told with the lack that disclaims it, and a lack must be one."""

from types import ModuleType

import numpy as np
import pytest

import attnspec
from attnspec.impls import numpy_naive
from attnspec.specs.outcome import KNOWN


def dense_only(query, key, value):
    if not all(array.flags.c_contiguous for array in (query, key, value)):
        raise ValueError("wanted contiguous arrays")
    return numpy_naive.attention(query, key, value)


def any_layout(query, key, value):
    return numpy_naive.attention(query, key, value)


def contract(function, lacks, **more):
    module = ModuleType("surveyed")
    vars(module).update(ARRAYS="numpy", LACKS=lacks, CONVENTIONS=numpy_naive.CONVENTIONS, attention=function, **more)
    return {outcome.invariant: outcome for outcome in attnspec.verify(module, profile="quick", only=["contract"])}


def test_views_that_raise_are_told_with_their_lack():
    failure = contract(dense_only, set())["contract.claims"].failure
    assert failure.lacks == ("views",)
    assert "wanted contiguous arrays" in failure.message


@pytest.mark.parametrize(("function", "idle"), [(dense_only, False), (any_layout, True)])
def test_a_lack_of_views_must_raise(function, idle):
    outcomes = contract(function, {"views"})
    assert outcomes["contract.claims"].failure is None
    assert (outcomes["contract.lacks"].failure is not None) == idle


def nan_in_empty_rows(query, key, value, *, mask=None):
    output = np.array(numpy_naive.attention(query, key, value, mask=mask))
    if mask is not None:
        seen = np.broadcast_to(mask, (*query.shape[:-1], key.shape[-2])).any(-1)
        output[~seen] = np.nan
    return output


def test_a_known_issue_is_looked_for_in_each_setting():
    """The first setting of a mask leaves no row empty."""
    outcome = contract(nan_in_empty_rows, set(), KNOWN_ISSUES={"mask": "empty rows"})["contract.known_issues"]
    assert outcome.status == KNOWN
    mended = contract(any_layout_with_mask, set(), KNOWN_ISSUES={"mask": "empty rows"})["contract.known_issues"]
    assert "wanted mask to fail as declared" in mended.failure.message


def any_layout_with_mask(query, key, value, *, mask=None):
    return numpy_naive.attention(query, key, value, mask=mask)
