"""Malformed calls: what counts as a refusal, what a reading is held to, and what is said of the rest."""

import dataclasses
import sys

import numpy as np
import pytest

from attnspec.loading import load
from attnspec.specs.cases import PROFILES
from attnspec.specs.catalogue import Inapplicable, Violation, catalogue
from attnspec.specs.examine import examine
from attnspec.specs.malformed import UNCLEAN, Bands, Call, refused
from attnspec.specs.outcome import FAILED, PASSED
from attnspec.specs.recipe import Recipe, Shape

PROBLEM = Recipe(Shape(2, 1, 1, 3, 3, 2, 2)).problem()
FAMILY = [id for id in catalogue() if id.startswith("rejection.")]

PLAIN = """
import numpy as np

ARRAYS = "numpy"
LACKS = {"gqa", "zero_size"}


def attention(query, key, value):
    if query.shape[-3:-2] != key.shape[-3:-2] or not query.size * key.size * value.size:
        raise ValueError("not these")
    scores = query @ key.swapaxes(-1, -2) / query.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value
"""


def backend(function):
    """A module of NumPy's with this attention."""
    module = type(sys)("some")
    module.ARRAYS, module.attention = "numpy", function
    return load(module)


def raising(error):
    def attention(query, key, value):
        raise error

    return backend(attention)


CALL = Call("nothing but a test", PROBLEM)


class Odd(Exception):
    """A framework's own."""


@pytest.mark.parametrize("error", [ValueError("no"), TypeError(), IndexError(), RuntimeError(), Odd()])
def test_an_error_refuses(error):
    assert refused(raising(error), PROBLEM, [CALL]) == 0


@pytest.mark.parametrize("kind", [*UNCLEAN, SystemExit])
def test_an_accident_does_not(kind):
    message = f"with nothing but a test: wanted an error such as ValueError, came {kind.__name__}: oh"
    with pytest.raises(Violation, match=message):
        refused(raising(kind("oh")), PROBLEM, [CALL])


def test_what_has_no_reading_must_be_refused():
    with pytest.raises(Violation, match=r"wanted an error, came an output of shape \(2, 1, 3, 2\)"):
        refused(load("numpy_naive"), PROBLEM, [CALL])


def test_a_reading_is_held_to_the_oracle():
    call, other = Call("x", PROBLEM, PROBLEM, "that"), PROBLEM.replace(value=PROBLEM.value + 1)
    assert 0 < refused(load("numpy_naive"), PROBLEM, [call]) < 1
    with pytest.raises(Violation, match="with x: wanted an error or that; output at"):
        refused(load("numpy_naive"), PROBLEM, [Call("x", other, PROBLEM, "that")])
    with pytest.raises(Violation, match="with x: wanted an error or that, came a tuple"):
        refused(backend(lambda query, key, value: (query, 1)), PROBLEM, [call])


@pytest.mark.parametrize("payload", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
@pytest.mark.parametrize("library", ["numpy_naive", "torch_naive"])
def test_bands_stand_before_and_behind(library, dtype, payload):
    some = load(library)
    array = np.ones((3, 2)).astype(Recipe(dtype="bfloat16").problem().query.dtype if dtype == "bfloat16" else dtype)
    bands = Bands(some, payload)
    view = bands.around(some.arrays.asarray(array, "cpu"))
    assert np.array_equal(some.arrays.to_numpy(view), array)
    bands.hold()
    buffer, whole = bands.buffers[0]
    poison = np.asarray(whole, np.float64)[[0, -1]]
    assert not (np.isfinite(poison) & (poison == 1)).any() or dtype == "bool"
    buffer[-1:] = buffer[64:65]
    if dtype != "bool" or not np.isnan(payload):
        with pytest.raises(Violation, match="wanted the memory around each argument unchanged"):
            bands.hold()


@pytest.mark.parametrize("id", FAMILY)
def test_other_problems_are_none_of_its(id):
    naive, other = load("numpy_naive"), Recipe(Shape(1, 1, 1, 2, 2, 2, 2, rank=2)).problem()
    if id == "rejection.guard_bands":
        assert catalogue()[id].check(naive, other) == 0
    else:
        with pytest.raises(Inapplicable):
            catalogue()[id].check(naive, other)


def test_plain_code_without_checks_is_right_where_numpy_broadcasts(tmp_path):
    path = tmp_path / "plain.py"
    path.write_text(PLAIN)
    outcomes = [examine(catalogue()[id], load(path), PROFILES["quick"], shrink=False) for id in FAMILY]
    assert [outcome.invariant for outcome in outcomes if outcome.status == FAILED] == []


class Placed(np.ndarray):
    """An array that knows its device."""

    place = ""

    def __array_finalize__(self, other):
        self.place = getattr(other, "place", "")


class Devices:
    """NumPy's binding with a second device."""

    def __getattr__(self, name):
        return getattr(load("numpy_naive").arrays, name)

    def asarray(self, array, device):
        placed = np.array(array, order="C").view(Placed)
        placed.place = device
        return placed

    def to_numpy(self, array):
        return np.array(array)


@pytest.mark.parametrize("careful", [True, False])
def test_arrays_on_another_device_are_malformed(careful):
    seen = set()

    def attention(query, key, value):
        places = query.place, key.place, value.place
        seen.add(places)
        if careful and len(set(places)) > 1:
            raise RuntimeError(f"wanted one device, came {places}")
        if {query.dtype, key.dtype, value.dtype} != {query.dtype}:
            raise TypeError
        return load("numpy_naive").function(*map(np.asarray, (query, key, value)))

    there = dataclasses.replace(backend(attention), device="cuda", arrays=Devices())
    there = there.assuming(devices=("cuda",))
    assert examine(catalogue()["rejection.dtypes"], there, PROFILES["quick"], shrink=False).status == PASSED
    one = ("cpu", "cuda", "cuda")
    assert {one, one[::-1], ("cuda", "cpu", "cuda")} <= seen
