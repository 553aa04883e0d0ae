"""The survey: what is claimed and raises is told with the lack that disclaims it, and a lack must be one."""

from types import ModuleType

import numpy as np
import pytest

import attnspec
from attnspec.impls import numpy_naive
from attnspec.impls.arrays import numpy as arrays
from attnspec.specs.backend import Backend
from attnspec.specs.contract import read_declaration
from attnspec.specs.outcome import KNOWN
from attnspec.specs.survey import idle_lacks


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


def short_rows(query, key, value):
    if key.shape[-2] > 256:
        raise ValueError("wanted at most 256 keys")
    return numpy_naive.attention(query, key, value)


def test_long_rows_that_raise_are_told_by_that_word_alone():
    """The problems that show it have more keys than queries, too."""
    assert contract(short_rows, set())["contract.claims"].failure.lacks == ("long_rows",)


def no_two_lengths_and_widths(query, key, value):
    if key.shape[-2] != query.shape[-2] and key.shape[-1] != value.shape[-1]:
        raise ValueError("wanted one length or one width")
    return numpy_naive.attention(query, key, value)


@pytest.mark.parametrize("lacks", [set(), {"gqa"}])
def test_a_lack_of_two_sizes_is_told_by_both(lacks):
    """Some shapes that have both also have one key, or many."""
    assert contract(no_two_lengths_and_widths, lacks)["contract.claims"].failure.lacks == ("cross+value_dim",)


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


def stalled(query, key, value):
    equal = key.shape[-2] > 256 and (key == key[..., :1, :]).all()
    return numpy_naive.attention(query, key, value) * (2 if equal else 1)


def test_a_known_issue_is_looked_for_in_other_numbers():
    outcome = contract(stalled, set(), KNOWN_ISSUES={"long_rows": "equal keys"})["contract.known_issues"]
    assert outcome.status == KNOWN


def folded(query, key, value, *, mask=None):
    output = numpy_naive.attention(query, key, value, mask=mask)
    return np.broadcast_to(value, output.shape) if key.shape[-2] == 1 else output


def test_a_known_issue_is_looked_for_with_each_option():
    """One key is rightly attended to, unless a mask hides it."""
    outcome = contract(folded, {"gqa"}, KNOWN_ISSUES={"one_key": "a mask unseen"})["contract.known_issues"]
    assert outcome.status == KNOWN


def test_another_issue_does_not_keep_one_alive():
    issues = {"mask": "empty rows", "one_key": "mended"}
    outcome = contract(nan_in_empty_rows, set(), KNOWN_ISSUES=issues)["contract.known_issues"]
    assert "wanted one_key to fail as declared" in outcome.failure.message


def wrong_softcap(query, key, value, *, softcap=None):
    return numpy_naive.attention(query, key, value) * (2 if softcap else 1)


@pytest.mark.parametrize("mended", ["one_key", "long_rows"])
def test_a_failure_without_the_features_is_not_theirs(mended):
    outcome = contract(wrong_softcap, set(), KNOWN_ISSUES={mended: "mended"})["contract.known_issues"]
    assert f"wanted {mended} to fail as declared, came right results" in outcome.failure.message


def wrong_across(query, key, value):
    return numpy_naive.attention(query, key, value) * (1 if key.shape[-2] == query.shape[-2] else 2)


def test_two_known_issues_may_be_met_together_only():
    """All long rows are other lengths than the query's, too."""
    issues = {"cross": "wrong", "long_rows": "wrong"}
    assert contract(wrong_across, set(), KNOWN_ISSUES=issues)["contract.known_issues"].status == KNOWN


def test_a_known_issue_that_is_ruled_out_is_told_so():
    outcome = contract(wrong_across, {"cross"}, KNOWN_ISSUES={"long_rows": "wrong"})["contract.known_issues"]
    assert "came lacks that rule it out" in outcome.failure.message


def any_layout_with_mask(query, key, value, *, mask=None):
    return numpy_naive.attention(query, key, value, mask=mask)


def raising_where(condition):
    def lacking(query, key, value, *, scale=None):
        if condition(query, key, value, scale):
            raise ValueError("no")
        return numpy_naive.attention(query, key, value, scale=scale)

    return lacking


def idle(function, lack):
    declaration = read_declaration({"ARRAYS": "numpy", "DTYPES": ["float64"], "LACKS": [lack]})
    return [entry for entry, _, _ in idle_lacks(Backend("lacking", function, declaration, arrays))]


@pytest.mark.parametrize("size", ["batch", "keys", "key_dim", "value_dim"])
def test_a_lack_of_zero_sizes_may_be_of_one(size):
    sizes = {"batch": (0, 0), "keys": (1, 2), "key_dim": (1, 3), "value_dim": (2, 3)}
    argument, axis = sizes[size]

    def empty(query, key, value, scale):
        return (query, key, value)[argument].ndim == 4 and (query, key, value)[argument].shape[axis] == 0

    assert idle(raising_where(empty), "zero_size") == []


@pytest.mark.parametrize("refused", [0.0, -0.3])
def test_a_lack_of_scales_may_be_of_zero_or_of_those_below(refused):
    assert idle(raising_where(lambda query, key, value, scale: scale == refused), "nonpositive_scale") == []


@pytest.mark.parametrize("lack", ["zero_size", "nonpositive_scale"])
def test_a_lack_that_never_raises_is_idle(lack):
    assert idle(attention_alone, lack) == [lack]


def attention_alone(query, key, value, *, scale=None):
    return numpy_naive.attention(np.asarray(query), key, value, scale=scale)
