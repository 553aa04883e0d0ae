"""Problems and recipes as values: exact JSON both ways, and one clear line for whatever is damaged."""

import copy
import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from attnspec.specs.contract import ARRAY_OPTIONS, DTYPES, PLAIN_OPTIONS, shown
from attnspec.specs.oracle import solve
from attnspec.specs.plan import POOL
from attnspec.specs.problem import LARGEST, Problem, decode_array, encode_array, numpy_dtype
from attnspec.specs.recipe import Recipe, Shape, read_case, read_recipe
from attnspec.specs.settings import SETTINGS
from attnspec.specs.values import DISTRIBUTIONS

thorough = settings(max_examples=150, deadline=None, derandomize=True, database=None)
fuzzed = settings(thorough, max_examples=400, suppress_health_check=list(HealthCheck))

sizes = st.integers(0, 3)


@st.composite
def bits(draw, dtype, shape):
    """A float array of any bits at all: NaN payloads, subnormals, negative zeros, infinities."""
    dtype = numpy_dtype(dtype)
    count = int(np.prod(shape)) * dtype.itemsize
    special = [np.array(x).astype(dtype) for x in (0.0, -0.0, 1.0, np.inf, -np.inf, np.nan)]
    special += [np.frombuffer((n).to_bytes(dtype.itemsize, "little"), dtype)[0] for n in (1, 2)]
    array = np.frombuffer(draw(st.binary(min_size=count, max_size=count)), dtype).reshape(shape).copy()
    for index in np.ndindex(*shape):
        if draw(st.integers(0, 3)) == 0:
            array[index] = draw(st.sampled_from(special))
    return array


@st.composite
def booleans(draw, shape):
    count = int(np.prod(shape))
    return (np.frombuffer(draw(st.binary(min_size=count, max_size=count)), "uint8") > 127).reshape(shape)


@st.composite
def problems(draw):
    """Problems of every rank and dtype with any options; for their form, not for solving."""
    rank, dtype = draw(st.integers(2, 4)), draw(st.sampled_from(DTYPES))
    batch, kv_heads, group = (draw(sizes) for _ in range(3))
    batch, kv_heads, heads = (1, 1, 1) if rank == 2 else (batch, kv_heads, group * kv_heads)
    batch = batch if rank == 4 else 1
    queries, keys, key_dim, value_dim = (draw(sizes) for _ in range(4))
    outer = (batch, heads)[4 - rank :], (batch, kv_heads)[4 - rank :]
    arrays = [(*outer[0], queries, key_dim), (*outer[1], keys, key_dim), (*outer[1], keys, value_dim)]
    query, key, value = (draw(bits(dtype, shape)) for shape in arrays)
    batched = (batch,) if rank == 4 else ()
    full = (batch, heads, queries, keys)[4 - rank :]
    other = draw(st.sampled_from(DTYPES))
    integers = draw(st.sampled_from(["int64", "int32", "uint8"]))
    builders = {
        "mask": lambda: draw(booleans(draw(broadcasting(full)))),
        "bias": lambda: draw(bits(other, draw(broadcasting(full)))),
        "alibi_slopes": lambda: draw(bits(other, (heads,))),
        "sinks": lambda: draw(bits(other, (heads,))),
        "key_lengths": lambda: np.full(batched, draw(st.integers(0, 100)), integers),
        "is_causal": lambda: draw(st.booleans()),
        "scale": lambda: draw(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3, 3)),
        "softcap": lambda: draw(st.floats(0, allow_infinity=False)),
        "window": lambda: (draw(st.none() | st.integers(-9, 9)), draw(st.none() | st.integers(-9, 9))),
        "dropout_rate": lambda: draw(st.floats(0, 1, exclude_max=True)),
        "seed": lambda: draw(st.integers(0, 2**31 - 1)),
        "return_weights": lambda: draw(st.booleans()),
        "return_lse": lambda: draw(st.booleans()),
    }
    names = draw(st.sets(st.sampled_from([*builders, "segments"]), max_size=5))
    options = {name: builders[name]() for name in sorted(names - {"segments"})}
    if "segments" in names:
        options["query_segments"] = np.arange(np.prod((*batched, queries), dtype=int)).reshape(*batched, queries)
        options["key_segments"] = np.full((*batched, keys), draw(st.integers(-(2**31), 2**31 - 1)))
        options = {n: v.astype("int64") if n.endswith("segments") else v for n, v in options.items()}
    return Problem(query, key, value, options, draw(st.integers(0, 2**32 - 1)))


@st.composite
def broadcasting(draw, full):
    shape = tuple(draw(st.sampled_from((1, size))) for size in full)
    return shape[draw(st.integers(0, len(full))) :]


def same_array(one, other):
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def same(one, other):
    """Equal to the last bit."""
    if set(one.options) != set(other.options) or one.seed != other.seed:
        return False
    pairs = [(getattr(one, name), getattr(other, name)) for name in ("query", "key", "value")]
    pairs += [(one.options[name], other.options[name]) for name in one.options]
    return all(same_array(a, b) if isinstance(a, np.ndarray) else repr(a) == repr(b) for a, b in pairs)


def refuse(word):
    raise AssertionError(f"{word} is not JSON")


@thorough
@given(problems())
def test_json_round_trip_is_exact(problem):
    text = problem.to_json()
    json.loads(text, parse_constant=refuse)
    assert same(Problem.from_json(text), problem)
    assert same(read_case(text), problem)
    assert Problem.from_json(text).to_json() == text == problem.to_json()


def test_every_option_is_round_tripped():
    options = set()

    @thorough
    @given(problems())
    def collect(problem):
        options.update(problem.options)

    collect()
    assert options == set(ARRAY_OPTIONS + PLAIN_OPTIONS)


@pytest.mark.parametrize("dtype", DTYPES)
def test_signalling_nans_and_every_sign_survive(dtype):
    kind = numpy_dtype(dtype)
    exponent = {"float64": 0x7FF << 52, "float32": 0xFF << 23, "float16": 0x1F << 10, "bfloat16": 0xFF << 7}[dtype]
    sign = 1 << (8 * kind.itemsize - 1)
    patterns = [0, sign, 1, sign | 1, exponent, sign | exponent, exponent | 1, sign | exponent | 3, exponent - 1]
    raw = b"".join(pattern.to_bytes(kind.itemsize, "little") for pattern in patterns)
    array = np.frombuffer(raw, kind)
    assert decode_array(json.loads(json.dumps(encode_array(array))), "query").tobytes() == raw


def test_the_form_is_what_the_schema_of_vectors_says():
    array = np.array([[1.5, -0.0], [np.inf, np.nan]], "float32")
    assert encode_array(array) == {
        "dtype": "float32",
        "shape": [2, 2],
        "data": [1.5, -0.0, "inf", f"nan:0x{np.array(np.nan, 'float32').view('uint32'):x}"],
    }
    assert encode_array(np.array(True)) == {"dtype": "bool", "shape": [], "data": [True]}


def test_a_problem_is_a_value():
    query = np.ones((2, 3))
    mask = np.ones((2, 3), bool)
    problem = Problem(query, np.ones((3, 3)), np.ones((3, 1)), {"mask": mask})
    query[:], mask[:] = 7, False
    assert problem.query.max() == 1
    assert problem.options["mask"].all()
    for array in (problem.query, problem.key, problem.value, problem.options["mask"]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(TypeError):
        problem.options["scale"] = 2.0


def test_options_are_set_and_taken_away():
    problem = Recipe().problem().with_options(scale=2.0, is_causal=True)
    assert dict(problem.options) == {"scale": 2.0, "is_causal": True}
    assert dict(problem.with_options(scale=None).options) == {"is_causal": True}
    assert problem.replace(seed=3).seed == 3


def test_shape_is_that_of_the_definition_whatever_the_rank():
    arrays = np.zeros((2, 6, 3, 4)), np.zeros((2, 2, 5, 4)), np.zeros((2, 2, 5, 1))
    assert Problem(*arrays).shape == (2, 6, 2, 3, 5, 4, 1)
    assert Problem(*(a[0] for a in arrays)).shape == (1, 6, 2, 3, 5, 4, 1)
    assert Problem(*(a[0, 0] for a in arrays)).shape == (1, 1, 1, 3, 5, 4, 1)


@pytest.mark.parametrize(
    ("shape", "features"),
    [
        (Shape(2, 2, 2, 3, 3, 4, 4), set()),
        (Shape(2, 6, 2, 3, 3, 4, 4), {"gqa"}),
        (Shape(2, 2, 2, 3, 3, 4, 5), {"value_dim"}),
        (Shape(2, 2, 2, 3, 4, 4, 4), {"cross"}),
        (Shape(2, 2, 2, 3, 1, 4, 4), {"cross", "one_key"}),
        (Shape(2, 2, 2, 3, 256, 4, 4), {"cross"}),
        (Shape(2, 2, 2, 3, 257, 4, 4), {"cross", "long_rows"}),
        (Shape(0, 2, 2, 3, 3, 4, 4), {"zero_size"}),
        (Shape(2, 2, 2, 3, 3, 4, 0), {"zero_size", "value_dim"}),
        (Shape(1, 2, 2, 3, 3, 4, 4, rank=3), {"rank3"}),
        (Shape(1, 1, 1, 3, 3, 4, 4, rank=2), {"rank2"}),
    ],
)
def test_features_are_what_the_shape_asks_for(shape, features):
    assert shape.features == features
    problem = Recipe(shape, "float16").with_settings(segments="packed", is_causal="on").problem()
    assert problem.features == features | {"float16", "is_causal", "query_segments", "key_segments"}


@pytest.mark.parametrize("option", ["mask", "bias"])
@pytest.mark.parametrize(
    ("shape", "one_row"),
    [((3, 5), False), ((2, 1, 3, 1), False), ((1, 1, 1, 5), True), ((2, 1, 5), True), ((5,), True)],
)
def test_a_row_for_several_queries_is_a_feature(option, shape, one_row):
    array = np.ones(shape, bool if option == "mask" else "float32")
    several = Recipe(Shape(2, 2, 2, 3, 5, 4, 4)).problem().with_options(**{option: array})
    assert (f"key_{option}" in several.features) == one_row
    single = Recipe(Shape(2, 2, 2, 1, 5, 4, 4)).problem().with_options(**{option: np.ones((1, 5), array.dtype)})
    assert f"key_{option}" not in single.features


def test_random_choices_are_fixed_by_the_seed():
    problem = Recipe(seed=5).problem()
    assert problem.rng.randint(0, 1000, 5).tolist() == problem.rng.randint(0, 1000, 5).tolist()
    assert problem.rng.randint(0, 1000, 5).tolist() != problem.replace(seed=6).rng.randint(0, 1000, 5).tolist()


recipes = st.builds(
    Recipe,
    st.sampled_from(POOL),
    st.sampled_from(DTYPES),
    st.sampled_from(list(DISTRIBUTIONS)),
    st.integers(0, 2**32 - 1),
)


@st.composite
def set_recipes(draw):
    """Recipes with up to four settings."""
    names = draw(st.sets(st.sampled_from(list(SETTINGS)), max_size=4))
    return draw(recipes).with_settings(**{name: draw(st.sampled_from(list(SETTINGS[name]))) for name in sorted(names)})


@thorough
@given(set_recipes())
def test_recipes_round_trip(recipe):
    text = recipe.to_json()
    assert "\n" not in text
    assert read_recipe(json.loads(text)) == recipe
    assert read_case(text) is recipe.problem()


@settings(thorough, max_examples=60)
@given(set_recipes())
def test_recipes_cook_problems_that_read_back(recipe):
    assume(max(recipe.shape.queries, recipe.shape.keys) < 100)
    problem = recipe.problem()
    assert same(Problem.from_json(problem.to_json()), problem)
    assert problem.dtype == recipe.dtype
    assert problem.query.ndim == recipe.shape.rank
    assert problem.shape == tuple(getattr(recipe.shape, name) for name in SIZES)


SIZES = ("batch", "heads", "kv_heads", "queries", "keys", "key_dim", "value_dim")


def test_a_recipe_is_the_same_problem_everywhere():
    recipe = Recipe(POOL[5], "bfloat16", "gaussian", 7).with_settings(mask="full", bias="hiding", sinks="gaussian")
    program = f"from attnspec.specs.recipe import read_case; print(read_case({recipe.to_json()!r}).to_json())"
    run = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == recipe.problem().to_json()


def test_the_stream_of_small_integers_never_changes():
    problem = Recipe(Shape(1, 1, 1, 2, 3, 2, 2), values="small-integers", seed=1).problem()
    assert problem.query.ravel().tolist() == [2, -1, -3, 1]
    assert problem.key.ravel().tolist() == [2, 1, -2, 0, 1, 1]


def test_seeds_and_roles_differ():
    one, two = (Recipe(Shape(1, 1, 1, 3, 3, 4, 4), seed=seed).problem() for seed in (0, 1))
    arrays = [one.query, one.key, one.value, two.query, two.key, two.value]
    assert len({array.tobytes() for array in arrays}) == 6


def test_settings_stand_in_one_order():
    one = Recipe().with_settings(sinks="gaussian").with_settings(mask="full")
    assert one == Recipe().with_settings(mask="full", sinks="gaussian")
    assert one.with_settings(mask=None) == Recipe().with_settings(sinks="gaussian")


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize(("option", "setting"), [(o, s) for o in SETTINGS for s in SETTINGS[o]])
def test_every_setting_fits_the_lower_ranks(option, setting, rank):
    shape = Shape(1, 1 if rank == 2 else 4, 1 if rank == 2 else 2, 3, 5, 2, 2, rank=rank)
    problem = Recipe(shape, "float64").with_settings(**{option: setting}).problem()
    assert same(Problem.from_json(problem.to_json()), problem)
    higher = Recipe(Shape(1, *[getattr(shape, name) for name in SIZES[1:]]), "float64")
    whole = solve(higher.with_settings(**{option: setting}).problem())
    assert np.array_equal(solve(problem).output, whole.output)


def document():
    """A sound document to damage, decoded."""
    recipe = Recipe(Shape(2, 6, 2, 2, 3, 2, 2), "float32", "small-integers", 3)
    recipe = recipe.with_settings(mask="keys", bias="hiding", window="both", key_lengths="ragged", segments="packed")
    problem = recipe.problem().with_options(scale=0.5, softcap=2.0, is_causal=True, sinks=np.zeros(6, np.float32))
    return json.loads(problem.to_json())


def at(path, value):
    """The document with another value at a path; with nothing there if it is ``...``."""
    data = document()
    inner = data
    for step in path[:-1]:
        inner = inner[step]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return data


NESTED = "[" * 100_000

DAMAGED = [
    ("", "problem: wanted JSON, came text that breaks off at character 0"),
    ("{", "breaks off at character 1"),
    ("[1, 2]", "wanted a JSON object, came list"),
    ("null", "wanted a JSON object, came NoneType"),
    (NESTED, "nested too deeply"),
    ('{"query": ' + NESTED, "nested too deeply"),
    ('{"query": NaN}', "wanted JSON numbers"),
    ('{"seed": ' + "9" * 5000 + "}", "wanted JSON numbers"),
    (at(("query",), ...), "'seed', 'value']"),
    (at(("key",), ...), "wanted the field 'key', came only"),
    (at(("extra",), 1), "wanted the fields query, key, value, options, seed, came ['extra']"),
    (at(("query",), [1, 2]), "query: wanted an object with dtype, shape and data, came [1, 2]"),
    (at(("query", "data"), ...), "query: wanted an object with dtype, shape and data"),
    (at(("query", "note"), 1), "query: wanted an object with dtype, shape and data"),
    (at(("query", "dtype"), "float33"), "query: wanted a dtype of float64, float32"),
    (at(("query", "dtype"), "object"), "came 'object'"),
    (at(("query", "dtype"), ["float32"]), "came ['float32']"),
    (at(("query", "dtype"), "float64"), "of one dtype of"),
    (at(("options", "mask", "dtype"), "float32"), "mask: wanted float32 elements, came"),
    (at(("query", "shape"), "abc"), "query: wanted a shape of at most four whole numbers, came 'abc'"),
    (at(("query", "shape"), [2, 6, 2, -2]), "wanted a shape of at most four whole numbers"),
    (at(("query", "shape"), [2, 6, 2, 2.0]), "wanted a shape of at most four whole numbers"),
    (at(("query", "shape"), [2, 6, 2, True]), "wanted a shape of at most four whole numbers"),
    (at(("query", "shape"), [1] * 5), "wanted a shape of at most four whole numbers"),
    (at(("query", "shape"), [10**4000] * 2), "wanted a shape of at most four whole numbers"),
    (at(("query", "shape"), [10**6, 10**6, 10**6, 0]), f"query: wanted at most {LARGEST} elements"),
    (at(("query", "shape"), [2, 6, 2, 3]), "query: wanted 72 elements for shape [2, 6, 2, 3], came 48"),
    (at(("query", "shape"), [6, 2, 4]), "of one rank, 2 to 4, came ranks [3, 4]"),
    (at(("query", "shape"), [2, 2, 6, 2]), "wanted a shape that fits"),
    (at(("query", "shape"), [2, 3, 4, 2]), "with Hkv dividing Hq, came (2, 3, 4, 2)"),
    (at(("query", "data"), {}), "query: wanted 48 elements for shape [2, 6, 2, 2], came {}"),
    (at(("query", "data", 0), "one"), "query: wanted float32 elements, came 'one'"),
    (at(("query", "data", 0), None), "query: wanted float32 elements, came None"),
    (at(("query", "data", 0), True), "query: wanted float32 elements, came True"),
    (at(("query", "data", 0), [1.0]), "query: wanted float32 elements, came [1.0]"),
    (at(("query", "data", 0), 1e39), "query: wanted float32 elements, came 1e+39"),
    (at(("query", "data", 0), 10**400), "query: wanted float32 elements, came 1000"),
    (at(("query", "data", 0), "nan"), "query: wanted float32 elements, came 'nan'"),
    (at(("query", "data", 0), "nan:0x"), "query: wanted float32 elements"),
    (at(("query", "data", 0), "nan:0x3f800000"), "query: wanted float32 elements"),
    (at(("query", "data", 0), "nan:0x7fc000000000"), "query: wanted float32 elements"),
    (at(("query", "data", 0), "nan:-0x7fc00000"), "query: wanted float32 elements"),
    (at(("query", "data", 0), "nan:0x7f_c00000"), "query: wanted float32 elements"),
    (at(("seed",), -1), "problem seed: wanted a whole number from 0 to 2**32 - 1, came -1"),
    (at(("seed",), 1.5), "problem seed: wanted a whole number"),
    (at(("seed",), "7"), "problem seed: wanted a whole number"),
    (at(("options",), []), "problem options: wanted an object, came list"),
    (at(("options", "masc"), 1), "problem options: wanted names of the canonical signature, came 'masc'"),
    (at(("options", "seed"), -1), "seed: wanted a whole number from 0 to 2**31 - 1, came -1"),
    (at(("options", "dropout_rate"), 1), "dropout_rate: wanted a number from 0 to below 1, came 1"),
    (at(("options", "seeds"), 1), "problem options: wanted names of the canonical signature, came 'seeds'"),
    (at(("options", "is_causal"), 1), "is_causal: wanted true or false, came 1"),
    (at(("options", "is_causal"), "yes"), "is_causal: wanted true or false, came 'yes'"),
    (at(("options", "scale"), "half"), "scale: wanted a finite number, came 'half'"),
    (at(("options", "scale"), True), "scale: wanted a finite number, came True"),
    (at(("options", "scale"), 10**400), "scale: wanted a finite number, came 1000"),
    (at(("options", "softcap"), -1), "softcap: wanted a finite number, 0 or more, came -1"),
    (at(("options", "window"), 3), "window: wanted [left, right], each a whole number or null, came 3"),
    (at(("options", "window"), [1]), "window: wanted [left, right]"),
    (at(("options", "window"), [1, 2.5]), "window: wanted [left, right]"),
    (at(("options", "window"), [1, 10**30]), "window: wanted [left, right]"),
    (at(("options", "mask"), True), "mask: wanted an object with dtype, shape and data, came True"),
    (at(("options", "mask", "data", 0), 1), "mask: wanted bool elements, came 1"),
    (at(("options", "mask", "shape"), [1, 2, 1, 3]), "mask: wanted a shape that fits (2, 6, 2, 3), came (1, 2, 1, 3)"),
    (at(("options", "bias", "shape"), [3, 2]), "bias: wanted a shape that fits (2, 6, 2, 3), came (3, 2)"),
    (at(("options", "sinks", "shape"), [2, 3]), "sinks: wanted a shape that fits (6,), came (2, 3)"),
    (at(("options", "sinks", "dtype"), "int64"), "sinks: wanted int64 elements, came 0.0"),
    (at(("options", "key_lengths", "dtype"), "float32"), "key_lengths: wanted a dtype of int8"),
    (at(("options", "key_lengths", "data", 0), -1), "key_lengths: wanted lengths of 0 or more, came -1"),
    (at(("options", "key_lengths", "data", 0), 2**63), "key_lengths: wanted int64 elements"),
    (at(("options", "key_lengths", "data", 0), 1.0), "key_lengths: wanted int64 elements, came 1.0"),
    (at(("options", "key_lengths", "data", 0), "inf"), "key_lengths: wanted int64 elements, came 'inf'"),
    (at(("options", "key_segments"), ...), "wanted query_segments and key_segments together"),
    ({"shape": 3}, "problem: wanted shape, dtype, values, seed and settings"),
    ({"shapes": {}}, "problem: wanted shape, dtype, values, seed and settings, came ['shapes']"),
    ({"shape": {"rows": 3}}, "problem shape: wanted batch, heads"),
    ({"shape": {"queries": -3}}, "problem shape queries: wanted a whole number"),
    ({"shape": {"queries": 2**32 - 1, "keys": 2**32 - 1}}, f"wanted sizes with at most {LARGEST} scores"),
    ({"shape": {"key_dim": 2**31, "queries": 0}}, f"wanted sizes with at most {LARGEST} scores"),
    ({"shape": {"heads": 0, "kv_heads": 2**31}}, f"wanted sizes with at most {LARGEST} scores"),
    ({"shape": {"rank": 5}}, "problem shape: wanted rank 4, or 3 with batch 1"),
    ({"shape": {"rank": 3, "batch": 2}}, "problem shape: wanted rank 4, or 3 with batch 1"),
    ({"shape": {"heads": 3, "kv_heads": 2}}, "wanted kv_heads that divide heads, came 2 and 3"),
    ({"dtype": "int8"}, "problem dtype: wanted one of float64, float32, float16, bfloat16, came 'int8'"),
    ({"dtype": ["float32"]}, "came ['float32']"),
    ({"values": "normal"}, "problem values: wanted one of small-integers"),
    ({"seed": True}, "problem seed: wanted a whole number"),
    ({"settings": {"masks": "full"}}, "problem settings: wanted one of mask, bias"),
    (
        {"settings": {"mask": "fully"}},
        "problem settings['mask']: wanted one of shared, full, keys, heads, holed, holed-head, came 'fully'",
    ),
    ({"settings": {"mask": None}}, "problem settings['mask']: wanted one of"),
]


@pytest.mark.parametrize(("data", "message"), DAMAGED)
def test_damage_is_told_in_one_line(data, message):
    text = data if isinstance(data, str) else json.dumps(data)
    with pytest.raises(ValueError, match="wanted") as caught:
        read_case(text)
    told = str(caught.value)
    assert message in told
    assert_one_clear_line(told)


def assert_one_clear_line(told):
    assert "wanted" in told
    assert "came" in told
    assert told.isprintable()
    assert len(told) < 400


def test_null_options_are_unset():
    data = at(("options", "softcap"), None)
    assert "softcap" not in read_case(json.dumps(data)).options


def test_infinite_and_huge_values_are_shown_short():
    assert shown("x" * 1000) == repr("x" * 1000)[:57] + "..."
    assert "\n" not in shown("a\nb")


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 40)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.sampled_from(
        [
            "inf",
            "nan:0x7fc00000",
            "float32",
            "bfloat16",
            "bool",
            "int64",
            "float64",
            [],
            {},
            2**24,
            2**31,
            10**20,
            10**400,
        ]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)


def paths(data, prefix=()):
    """Every place in a decoded document."""
    places = [prefix] if prefix else []
    if isinstance(data, dict | list):
        steps = data if isinstance(data, dict) else range(len(data))
        places += [path for step in steps for path in paths(data[step], (*prefix, step))]
    return places


SOUND = [document(), json.loads(Recipe(POOL[10], "bfloat16").with_settings(mask="full", sinks="gaussian").to_json())]
PLACES = [paths(data) for data in SOUND]


def read_or_refused(text):
    """Whether the text is read; a problem that is read can be solved and written again."""
    try:
        problem = read_case(text)
    except ValueError as error:
        assert_one_clear_line(str(error))
        return False
    assert same(read_case(problem.to_json()), problem)
    if np.prod([max(size, 1) for size in problem.shape]) < 10**5:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            solve(problem).output.sum(), solve(problem).lse.sum()
    return True


@fuzzed
@given(st.data())
def test_no_structural_damage_escapes(data):
    which = data.draw(st.integers(0, len(SOUND) - 1))
    damaged = copy.deepcopy(SOUND[which])
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(PLACES[which]))
        inner = damaged
        try:
            for step in path[:-1]:
                inner = inner[step]
            match data.draw(st.sampled_from(["replace", "replace", "delete", "add"])):
                case "replace":
                    inner[path[-1]] = data.draw(anything)
                case "delete":
                    del inner[path[-1]]
                case "add" if isinstance(inner, dict):
                    inner[data.draw(st.text(max_size=3))] = data.draw(anything)
        except (KeyError, IndexError, TypeError):
            continue
    read_or_refused(json.dumps(damaged))


TEXTS = [json.dumps(data) for data in SOUND]


@fuzzed
@given(st.sampled_from(TEXTS), st.data())
def test_no_textual_damage_escapes(text, data):
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 3)))
        piece = data.draw(st.sampled_from(list('{}[],:"0123456789eE.-+ \\ntfu')) | st.text(max_size=2))
        text = text[:start] + piece + text[end:]
    read_or_refused(text)


@fuzzed
@given(st.text(max_size=40))
@example("\ud800")
@example("1" * 4301)
def test_no_text_escapes(text):
    read_or_refused(text)


@pytest.mark.parametrize("depth", range(100, 1100, 50))
def test_nesting_of_every_depth_is_refused(depth):
    nested = "[" * depth + "]" * depth
    assert not read_or_refused(f'{{"query": {nested}, "key": 1, "value": 2}}')
    assert not read_or_refused(f'{{"seed": {nested}}}')


def test_sound_documents_are_read():
    assert all(read_or_refused(text) for text in TEXTS)
