"""The oracle of positions against mpmath, published tables and numbers by hand; its bounds; what is claimed of it."""

import functools
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

from attnspec.impls.arrays import numpy as arrays
from attnspec.loading import load
from attnspec.specs import positions
from attnspec.specs.backend import Backend
from attnspec.specs.bound import Precision
from attnspec.specs.cases import PROFILES
from attnspec.specs.catalogue import catalogue
from attnspec.specs.compare import ratios
from attnspec.specs.contract import read_declaration
from attnspec.specs.examine import examine
from attnspec.specs.outcome import FAILED, NOT_CLAIMED, PASSED

mp = mpmath.MPContext()
mp.dps = 50

DOUBLE, SINGLE = Precision.of("float64", "input"), Precision.of("float32", "input")
LAYOUTS = ("interleaved", "half-split")


def gaussian(*shape):
    return np.random.RandomState(7).standard_normal(shape)


def encoding(x, offset):
    """x + PE, element by element, as section 3.5 writes it."""
    result = np.zeros(x.shape)
    _, _, width = x.shape
    for b, t, column in np.ndindex(x.shape):
        angle = (offset + t) / mp.power(10000, mp.mpf(column // 2 * 2) / width)
        result[b, t, column] = mp.mpf(x[b, t, column]) + (mp.sin(angle) if column % 2 == 0 else mp.cos(angle))
    return result


def rotation(x, layout, counted, width, base):
    """Each pair as a complex number, times e^(i·p·base^(−2k/width)); ``counted`` (B, L)."""
    result = np.array(x)
    for b, h, t in np.ndindex(x.shape[:3]):
        for k in range(width // 2):
            first, second = (2 * k, 2 * k + 1) if layout == "interleaved" else (k, k + width // 2)
            angle = int(counted[b, t]) * mp.power(base, -mp.mpf(2 * k) / width)
            turned = mp.mpc(x[b, h, t, first], x[b, h, t, second]) * mp.expj(angle)
            result[b, h, t, first], result[b, h, t, second] = turned.real, turned.imag
    return result


ENCODINGS = [(6, 0), (7, 0), (1, 3), (4, 250), (5, 399)]
ROTATIONS = [(6, None, 10000.0, 0), (6, 4, 10000.0, 0), (7, 2, 500.0, 399), (4, 4, 10000.0, 250), (5, 0, 10.0, 1)]


@functools.cache
def encoded_exactly(width, offset):
    return encoding(gaussian(2, 3, width), offset)


@functools.cache
def rotated_exactly(layout, width, rotary_dim, base, offset):
    counted = np.broadcast_to(np.arange(offset, offset + 3), (2, 3))
    return rotation(gaussian(2, 2, 3, width), layout, counted, width if rotary_dim is None else rotary_dim, base)


def faults():
    """On which questions the oracle is off by more than a few of float64's last digits of an angle of 400."""
    for width, offset in ENCODINGS:
        came = positions.encoded(gaussian(2, 3, width), DOUBLE, offset).values
        if not np.allclose(came, encoded_exactly(width, offset), rtol=0, atol=1e-12):
            yield "encoding", width, offset
    for layout in LAYOUTS:
        for width, rotary_dim, base, offset in ROTATIONS:
            came = positions.rotated(gaussian(2, 2, 3, width), DOUBLE, layout, offset, rotary_dim, base).values
            if not np.allclose(came, rotated_exactly(layout, width, rotary_dim, base, offset), rtol=0, atol=1e-12):
                yield "rotation", layout, width, rotary_dim
    for heads, wanted in SLOPES.items():
        if not np.allclose(positions.slopes(heads, "two-series").values, wanted, rtol=1e-15, atol=0):
            yield "slopes", heads


SLOPES = {
    1: [1 / 256],
    2: [1 / 16, 1 / 256],
    3: [1 / 16, 1 / 256, 1 / 4],
    6: [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125],
    8: [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256],
    12: [*(0.5**i for i in range(1, 9)), 2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5],
    16: [2**-0.5, 2**-1, 2**-1.5, 2**-2, 2**-2.5, 2**-3, 2**-3.5, 2**-4, *(2 ** -(i / 2) for i in range(9, 17))],
}
"""8 and 16 as section 3 of the paper lists them, 6 and 12 as its authors' code gives them."""


def test_oracle_is_the_definition():
    assert list(faults()) == []


def test_positions_are_each_samples_own():
    x, counted = gaussian(2, 2, 3, 4), np.array([[0, 0, 1], [7, 300, 2]])
    for layout in LAYOUTS:
        came = positions.rotated(x, DOUBLE, layout, positions=counted).values
        assert np.allclose(came, rotation(x, layout, counted, 4, 10000.0), rtol=0, atol=1e-12)


def test_numbers_by_hand():
    """The encoding of position 1 in four features; a right angle turned by 1 radian; the slopes of one series."""
    came = positions.encoded(np.zeros((1, 2, 4)), DOUBLE).values[0]
    assert np.allclose(came, [[0, 1, 0, 1], [0.84147098, 0.54030231, 0.00999983, 0.99995000]], atol=1e-8)
    came = positions.rotated(np.array([[[[0.0, 1.0]]]]), DOUBLE, "interleaved", offset=1).values
    assert np.allclose(came, [[[[-0.84147098, 0.54030231]]]], atol=1e-8)
    assert np.allclose(positions.slopes(3, "geometric").values, [0.15749013, 0.02480314, 0.00390625], atol=1e-8)


def test_relative_bias_by_hand():
    table = np.array([[10, 11, 12], [20, 21, 22]], np.float32)  # one behind or more, here, one ahead or more
    assert positions.distance_bias(table, 3, 4).tolist() == [
        [[11, 12, 12, 12], [10, 11, 12, 12], [10, 10, 11, 12]],
        [[21, 22, 22, 22], [20, 21, 22, 22], [20, 20, 21, 22]],
    ]


def altered(name, change):
    """``change`` of what the oracle's function ``name`` returns or takes."""
    original = getattr(positions, name)
    return name, lambda *arguments: change(original, *arguments)


PLANTED = {
    "positions from 1": altered("_angles", lambda f, at, *rest: f(at + 1, *rest)),
    "frequencies off by 1e-9": altered("_angles", lambda f, at, w, base, p: f(at, w, base * (1 + 1e-9), p)),
    "exponents a tenth larger": altered("_angles", lambda f, at, w, base, p: f(at, w, base**1.1, p)),
    "pairs in the other layout": altered("pairs", lambda f, w, layout: f(w, LAYOUTS[layout == LAYOUTS[0]])),
    "turned backwards": altered("pairs", lambda f, *rest: f(*rest)[::-1]),
    "slopes from 2^0": altered("_series", lambda f, heads: 2.0 ** (8 / heads) * f(heads)),
    "slopes of one series": altered("_series", lambda f, heads: f(heads)[::-1]),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_planted_fault_is_seen(fault, monkeypatch):
    monkeypatch.setattr(positions, *PLANTED[fault])
    assert list(faults()) != []


def in_single(width, power):
    """Frequencies in float32, by a power or by an exponential."""
    steps = np.arange(0, width, 2, dtype=np.float32)
    if power:
        return np.float32(1) / np.float32(10000) ** (steps / np.float32(width))
    return np.exp(steps * np.float32(-np.log(10000.0) / width))


@pytest.mark.parametrize("power", [True, False])
@pytest.mark.parametrize("width", [2, 16, 64, 256])
def test_single_precision_is_within_the_bound(width, power):
    """Neither broken by honest roundings, nor so wide that a frequency that is 1 % off hides."""
    x = gaussian(1, 2, 500, width).astype(np.float32)
    exact = positions.rotated(x, SINGLE, "interleaved")
    for factor, most in ((1, 1), (1.01, np.inf)):
        angles = np.arange(500, dtype=np.float32)[:, None] * in_single(width, power) * np.float32(factor)
        a, b = x[..., 0::2], x[..., 1::2]
        came = np.stack([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], -1)
        ratio = ratios(came.reshape(x.shape), *exact).max()
        assert ratio <= most
        assert factor == 1 or ratio > 100


def test_a_library_that_flushes_may_return_0_for_a_subnormal_of_the_inputs_dtype():
    x = np.full((1, 1, 3, 4), np.finfo(np.float16).smallest_normal / 2, np.float16)
    for intermediate in ("input", "float32"):
        exact = positions.rotated(x, Precision.of("float16", intermediate, flushes_subnormals=True), "interleaved")
        assert (np.abs(exact.values) <= exact.bound).all()


@pytest.mark.parametrize("name", ["numpy_naive", "torch_naive", "jax_naive"])
def test_malformed_input_raises(name):
    backend = load(name)
    functions = SimpleNamespace(**backend.functions)
    rank3, rank4 = (backend.arrays.asarray(np.zeros((1, 2, 3, 4)[4 - rank :], np.float32), "cpu") for rank in (3, 4))
    two_samples = backend.arrays.asarray(np.zeros((2, 3), np.int64), "cpu")
    for call in (
        lambda: functions.positional_encoding(rank4),
        lambda: functions.rotary_embedding(rank3),
        lambda: functions.rotary_embedding(rank4, rotary_dim=3),
        lambda: functions.rotary_embedding(rank4, rotary_dim=6),
        lambda: functions.rotary_embedding(rank4, positions=two_samples),
        lambda: functions.make_alibi_slopes(0),
        lambda: functions.relative_bias(rank3[0], 2, 2),
    ):
        with pytest.raises(ValueError, match="wanted"):
            call()


def backend_with(lacks=(), **functions):
    declaration = read_declaration({"ARRAYS": "numpy", "LACKS": set(lacks)})
    return Backend("given", lambda query, key, value: None, declaration, arrays, functions=functions)


def outcome(id, backend):
    return examine(catalogue()[id], backend, PROFILES["quick"], shrink=False)


def plain_rotation(x):
    return load("numpy_naive").functions["rotary_embedding"](x)


def single_rotation(x):
    if x.dtype == np.float16:
        raise TypeError("no float16 here")
    return plain_rotation(x)


def test_what_a_module_has_not_is_not_claimed():
    assert outcome("positions.rotary_values", backend_with()).status == NOT_CLAIMED
    assert outcome("positions.rotary_values", backend_with(rotary_embedding=plain_rotation)).status == PASSED
    for keyword in ("history", "steps", "rotary_partial", "rotary_padded"):
        without = outcome(f"positions.{keyword}", backend_with(rotary_embedding=plain_rotation))
        assert without.status == NOT_CLAIMED, keyword
    lacking = backend_with({"rotary_embedding"}, rotary_embedding=plain_rotation)
    assert outcome("positions.rotary_values", lacking).status == NOT_CLAIMED


def test_what_is_claimed_and_raises_is_told_by_its_name():
    failed = outcome("positions.rotary_origin", backend_with(rotary_embedding=single_rotation))
    assert failed.status == FAILED
    assert failed.failure.message.startswith("rotary_embedding raised TypeError: no float16 here")
    able = backend_with({"rotary_embedding+float16"}, rotary_embedding=single_rotation)
    assert outcome("positions.rotary_origin", able).status == PASSED


def test_what_is_no_such_array_is_told():
    for function, wanted in (
        (lambda x: x[..., 0], "wanted float"),
        (lambda x: x.astype(np.int64), "wanted floating-point numbers, came int64"),
        (lambda x: x.tolist(), "wanted one numpy array, came builtins.list"),
        (lambda x: x.astype(np.longdouble), "wanted floating-point numbers"),
    ):
        failed = outcome("positions.rotary_values", backend_with(rotary_embedding=function))
        assert wanted in failed.failure.message
