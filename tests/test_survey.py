"""The survey: what is claimed and raises is told with the lack that disclaims it, and a lack must be one."""

from types import ModuleType

import pytest

import attnspec
from attnspec.impls import numpy_naive


def dense_only(query, key, value):
    if not all(array.flags.c_contiguous for array in (query, key, value)):
        raise ValueError("wanted contiguous arrays")
    return numpy_naive.attention(query, key, value)


def any_layout(query, key, value):
    return numpy_naive.attention(query, key, value)


def contract(function, lacks):
    module = ModuleType("surveyed")
    vars(module).update(ARRAYS="numpy", LACKS=lacks, CONVENTIONS=numpy_naive.CONVENTIONS, attention=function)
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
