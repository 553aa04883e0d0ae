"""Every binding to an array library, held to its protocol with a function whose derivatives are known."""

import importlib

import ml_dtypes
import numpy as np
import pytest

from attnspec.bug_report.recorder import Recorder
from attnspec.errors import modules_of
from attnspec.specs.arrays import ArrayLibrary
from attnspec.specs.backend import Backend
from attnspec.specs.contract import TRANSFORMS, read_declaration
from attnspec.specs.recipe import Recipe

NAMES = modules_of("attnspec.impls.arrays")
DTYPES = ("float64", "float32", "float16", ml_dtypes.bfloat16, "bool", "int32", "int64")
SHAPES = ((), (3,), (2, 3), (2, 0, 3), (2, 3, 4, 5))


@pytest.fixture(params=NAMES)
def arrays(request):
    pytest.importorskip(request.param)
    return importlib.import_module(f"attnspec.impls.arrays.{request.param}")


def binding_with(arrays, transform):
    if transform not in arrays.TRANSFORMS:
        pytest.skip(f"{arrays.__name__} declares no {transform}")
    return arrays


def numbers(shape, dtype="float64", seed=0):
    """Small integers, exact in every dtype, products and all."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def f(x, y):
    return x * y * y


def natives(arrays, count, shape=(2, 3)):
    """So many different arrays, in NumPy and native."""
    plain = [numbers(shape, seed=seed) for seed in range(count)]
    return plain, [arrays.asarray(array, "cpu") for array in plain]


def test_it_has_what_the_protocol_says(arrays):
    wanted = {member for member in vars(ArrayLibrary) | ArrayLibrary.__annotations__ if member[0] != "_"}
    assert {m for m in wanted if not hasattr(arrays, m)} <= set(TRANSFORMS) - arrays.TRANSFORMS
    assert frozenset(TRANSFORMS) >= arrays.TRANSFORMS
    assert arrays.devices()[0] == "cpu"
    assert arrays.version()[0].isdigit()


def test_calls_with_its_arrays_can_be_recorded(arrays):
    declaration = read_declaration({"ARRAYS": arrays.__name__})
    recorder = Recorder.over(Backend("doubles", lambda query, key, value: query + query, declaration, arrays))
    problem = Recipe().problem()
    np.testing.assert_array_equal(recorder.solve(problem).output, 2 * problem.query)
    assert [call.layouts for call in recorder.calls] == [{}]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_there_and_back(arrays, shape, dtype):
    array = numbers(shape, dtype)
    kept, native = array.copy(), arrays.asarray(array, "cpu")
    arrays.synchronize(native)
    array[...] = 1  # shares no memory
    came = arrays.to_numpy(native)
    assert arrays.is_array(native)
    assert not arrays.is_array(kept) or arrays.__name__.endswith("numpy")
    assert (came.dtype, came.shape) == (kept.dtype, kept.shape)
    assert np.array_equal(came, kept)
    came[...] = 1
    assert np.array_equal(arrays.to_numpy(native), kept)


@pytest.mark.parametrize("dtype", DTYPES[:4], ids=str)
def test_every_number_survives(arrays, dtype):
    info = ml_dtypes.finfo(dtype)
    array = np.array([np.inf, -np.inf, np.nan, info.max, info.smallest_subnormal, 1 + info.eps, -0.0], dtype)
    came = arrays.to_numpy(arrays.asarray(array, "cpu"))
    bits = f"uint{8 * array.itemsize}"
    assert np.array_equal(came[3:].view(bits), array[3:].view(bits))
    assert np.array_equal(came[:3], array[:3], equal_nan=True)


def test_gradient(arrays):
    arrays = binding_with(arrays, "gradient")
    (x, y, c), (a, b, cotangent) = natives(arrays, 3)
    output, gradients = arrays.gradient(f, [a, b], cotangent)
    assert np.array_equal(arrays.to_numpy(output), x * y * y)
    assert np.array_equal(arrays.to_numpy(gradients[0]), c * y * y)
    assert np.array_equal(arrays.to_numpy(gradients[1]), 2 * c * x * y)


def test_gradient_beside_a_constant_and_of_what_does_not_matter(arrays):
    arrays = binding_with(arrays, "gradient")
    (x, y, c), (a, b, cotangent) = natives(arrays, 3)
    _, (gradient,) = arrays.gradient(f, [b], cotangent, [a])  # its first argument is the one derived by
    assert np.array_equal(arrays.to_numpy(gradient), c * x * x)
    _, (_, none) = arrays.gradient(lambda first, _: first * first, [a, b], cotangent)
    assert np.array_equal(arrays.to_numpy(none), np.zeros_like(y))


def test_double_gradient(arrays):
    arrays = binding_with(arrays, "double_gradient")
    (x, y, c, dx, dy), (a, b, cotangent, *directions) = natives(arrays, 5)
    by_x, by_y = map(arrays.to_numpy, arrays.double_gradient(f, [a, b], cotangent, directions))
    assert np.array_equal(by_x, 2 * c * y * dy)
    assert np.array_equal(by_y, 2 * c * y * dx + 2 * c * x * dy)


def test_forward_gradient(arrays):
    arrays = binding_with(arrays, "forward_gradient")
    (x, y, dx, dy), (a, b, *directions) = natives(arrays, 4)
    assert np.array_equal(arrays.to_numpy(arrays.forward_gradient(f, [a, b], directions)), y * y * dx + 2 * x * y * dy)


def test_compile(arrays):
    compiled = binding_with(arrays, "compile").compile(f)
    for shape in ((2, 3), (4, 2)):
        for _ in range(3):  # TinyJit captures at the second call, and repeats what it captured at the third
            (x, y), inputs = natives(arrays, 2, shape)
            assert np.array_equal(arrays.to_numpy(compiled(*inputs)), x * y * y)


def test_vectorize(arrays):
    arrays = binding_with(arrays, "vectorize")
    (x, y), inputs = natives(arrays, 2, (4, 2, 3))
    seen = []

    def mapped(first, second):
        seen.append(tuple(first.shape))
        return f(first, second)

    assert np.array_equal(arrays.to_numpy(arrays.vectorize(mapped)(*inputs)), x * y * y)
    assert set(seen) == {(2, 3)}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_views_are_equal(arrays, shape):
    array = numbers(shape, "float32")
    for name, view in binding_with(arrays, "views").views(array, "cpu").items():
        assert np.array_equal(arrays.to_numpy(view), array), name


def test_what_is_said_of_subnormals(arrays):
    smallest = {dtype: np.full(4, ml_dtypes.finfo(dtype).smallest_normal, dtype) for dtype in ("float64", "float32")}
    halves = [arrays.to_numpy(arrays.asarray(array, "cpu") * 0.5) for array in smallest.values()]
    assert arrays.FLUSHES_SUBNORMALS or all(half.all() for half in halves)
