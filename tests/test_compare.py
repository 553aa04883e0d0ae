"""The comparator: what counts as a difference, and faults planted in it that these checks must see."""

import ml_dtypes
import numpy as np
import pytest

from attnspec.specs import compare
from attnspec.specs.compare import worst

INF, NAN = np.inf, np.nan

RATIOS = [
    # came, wanted, bound, error ÷ bound
    (1.0, 1.0, 0.1, 0.0),
    (1.5, 1.0, 1.0, 0.5),
    (0.5, 1.0, 1.0, 0.5),
    (2.0, 1.0, 0.5, 2.0),
    (-1.0, 1.0, 0.5, 4.0),
    (100.5, 100.0, 0.25, 2.0),
    (1e-30, 0.0, 1e-31, 10.0),
    (0.0, -0.0, 0.0, 0.0),
    (1e-300, 0.0, 0.0, INF),
    (NAN, NAN, 0.1, 0.0),
    (NAN, 1.0, 0.1, INF),
    (1.0, NAN, 0.1, INF),
    (NAN, INF, 0.1, INF),
    (INF, INF, 0.1, 0.0),
    (-INF, -INF, 0.1, 0.0),
    (-INF, INF, 0.1, INF),
    (INF, -INF, 0.1, INF),
    (INF, 1.0, 0.1, INF),
    (1e308, INF, 0.1, INF),
    (1.7e308, -1.7e308, 0.1, INF),
    # an infinite bound grants everything, one that is no bound nothing
    (NAN, 1.0, INF, 0.0),
    (INF, -INF, INF, 0.0),
    (1.0, 1.0, NAN, INF),
    (1.0, 2.0, -1.0, INF),
]


@pytest.mark.parametrize(("came", "wanted", "bound", "ratio"), RATIOS)
def test_ratio(came, wanted, bound, ratio):
    assert compare.ratios(np.array([came]), np.array([wanted]), bound) == [ratio]
    assert compare.ratios(np.float64(came), np.float64(wanted), bound) == ratio


def test_each_element_has_its_own_bound():
    came, wanted = np.array([[1.0, 2.0], [3.0, 4.0]]), np.zeros((2, 2))
    bound = np.array([[1.0, 4.0], [30.0, 1.0]])
    assert compare.ratios(came, wanted, bound).tolist() == [[1.0, 0.5], [0.1, 4.0]]
    assert compare.ratios(came, wanted, np.array([1.0, 2.0])).tolist() == [[1.0, 1.0], [3.0, 2.0]]


@pytest.mark.parametrize(
    ("came", "wanted"), [((2, 3), (3,)), ((3,), (2, 3)), ((1, 3), (2, 3)), ((0,), (1,)), ((), (1,))]
)
def test_shapes_must_agree(came, wanted):
    for function in (compare.ratios, compare.worst):
        with pytest.raises(ValueError, match="compare: wanted shape"):
            function(np.zeros(came), np.zeros(wanted), 1.0)


def test_a_bound_does_not_widen_the_comparison():
    with pytest.raises(ValueError, match=r"operand|broadcast"):
        compare.ratios(np.zeros(3), np.zeros(3), np.ones((2, 3)))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_what_came_is_compared_in_float64(dtype):
    came = np.array([1.0, 2.5, NAN, INF], dtype)
    assert compare.ratios(came, np.array([1 + 2.0**-40, 2.5, NAN, INF]), 2.0**-41).tolist() == [2.0, 0.0, 0.0, 0.0]


def test_worst_says_where_and_by_how_much():
    came, wanted = np.array([[0.0, 1.0], [2.5, 3.0]]), np.array([[0.0, 1.25], [2.0, 3.0]])
    difference = compare.worst(came, wanted, np.array([[1.0, 1.0], [0.125, 1.0]]))
    assert (difference.index, difference.wanted, difference.came) == ((1, 0), 2.0, 2.5)
    assert (difference.bound, difference.ratio) == (0.125, 4.0)
    assert str(difference) == "at [1, 0] wanted 2, came 2.5, err/bound 4"


def test_worst_prefers_a_nan_to_any_number():
    assert compare.worst(np.array([1e300, NAN]), np.zeros(2), 1.0).index == (1,)


def test_nothing_differs_in_empty_arrays():
    assert compare.worst(np.zeros((0, 3)), np.zeros((0, 3)), 1.0) is None


def test_arguments_stay_as_they_are():
    arrays = [np.array([1.0, NAN]), np.array([2.0, 1.0]), np.array([1.0, 1.0])]
    copies = [array.copy() for array in arrays]
    compare.worst(*arrays)
    for array, copy in zip(arrays, copies, strict=True):
        assert np.array_equal(array, copy, equal_nan=True)


def plain(came, wanted, bound):
    """|came − wanted| ÷ bound and nothing else."""
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(np.asarray(came, np.float64) - wanted) / bound)


def nan_is_anything(came, wanted, bound):
    return np.nan_to_num(plain(came, wanted, bound), nan=0.0, posinf=INF)


def nan_is_never_right(came, wanted, bound):
    return np.nan_to_num(plain(came, wanted, bound), nan=INF, posinf=INF)


def relative_to_itself(came, wanted, bound):
    return RIGHT(came, came, bound)


def relative_to_the_size(came, wanted, bound):
    return RIGHT(came, wanted, bound * np.maximum(np.abs(wanted), 1))


def blind_to_the_sign_of_infinity(came, wanted, bound):
    both = np.isinf(came) & np.isinf(wanted)
    return np.where(both, 0.0, RIGHT(came, wanted, bound))


def infinities_never_equal(came, wanted, bound):
    return np.where(np.isinf(wanted), INF, RIGHT(came, wanted, bound))


def blind_to_the_bound(came, wanted, bound):
    return RIGHT(came, wanted, 1.0)


def one_bound_for_all(came, wanted, bound):
    return RIGHT(came, wanted, np.max(bound))


def signed(came, wanted, bound):
    with np.errstate(all="ignore"):
        return np.maximum(RIGHT(came, wanted, bound) * np.sign(np.asarray(came, np.float64) - wanted), 0)


def broadcasting(came, wanted, bound):
    came, wanted, bound = np.broadcast_arrays(np.asarray(came, np.float64), wanted, bound)
    return RIGHT(came, wanted, bound)


def zero_bound_holds(came, wanted, bound):
    return np.where(np.asarray(bound) == 0, 0.0, RIGHT(came, wanted, bound))


def zero_bound_never_holds(came, wanted, bound):
    return np.where(np.asarray(bound) == 0, INF, RIGHT(came, wanted, bound))


def negative_bounds_hold(came, wanted, bound):
    return np.where(np.asarray(bound) < 0, -1.0, RIGHT(came, wanted, bound))


def rounded_to_what_came(came, wanted, bound):
    return RIGHT(came, np.asarray(wanted).astype(np.asarray(came).dtype), bound)


RIGHT = compare.ratios

MUTANTS = [
    nan_is_anything,
    nan_is_never_right,
    relative_to_itself,
    relative_to_the_size,
    blind_to_the_sign_of_infinity,
    infinities_never_equal,
    blind_to_the_bound,
    one_bound_for_all,
    signed,
    broadcasting,
    zero_bound_holds,
    zero_bound_never_holds,
    negative_bounds_hold,
    rounded_to_what_came,
]


def first_place(came, wanted, bound):
    """A worst that looks at the first element only."""
    ratio = RIGHT(came, wanted, bound)
    if not ratio.size:
        return None
    numbers = (np.asarray(a).flat[0] for a in (wanted, came, np.broadcast_to(bound, ratio.shape), ratio))
    return compare.Difference((0,) * ratio.ndim, *map(float, numbers))


def everything_holds():
    """Every test of this module that looks at the comparator, run as it stands."""
    for case in RATIOS:
        test_ratio(*case)
    for shapes in [((2, 3), (3,)), ((3,), (2, 3))]:
        test_shapes_must_agree(*shapes)
    test_each_element_has_its_own_bound()
    test_a_bound_does_not_widen_the_comparison()
    test_what_came_is_compared_in_float64(np.float16)
    test_worst_says_where_and_by_how_much()
    test_worst_prefers_a_nan_to_any_number()


@pytest.mark.parametrize("fault", [*MUTANTS, first_place], ids=lambda fault: fault.__name__)
def test_planted_fault_is_seen(fault, monkeypatch):
    everything_holds()
    monkeypatch.setattr(compare, "worst" if fault is first_place else "ratios", fault)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        everything_holds()


def test_worst_is_what_the_catalogue_uses():
    from attnspec.specs import catalogue

    assert catalogue.worst is worst
