"""The plan covers what it says, recomputed here from its recipes alone; failing recipes shrink to the minimum."""

import dataclasses
import itertools
import subprocess
import sys
from functools import cache
from types import SimpleNamespace

import pytest

from attnspec.specs.backend import Backend
from attnspec.specs.cases import PROFILES, bare, cases
from attnspec.specs.catalogue import catalogue
from attnspec.specs.contract import LENGTHS, OPTIONS, SHAPE_FEATURES, read_declaration
from attnspec.specs.plan import PLAINEST, POOL, claimed, plan, with_values
from attnspec.specs.recipe import Recipe, Shape
from attnspec.specs.settings import SETTINGS, keywords
from attnspec.specs.simplify import SIMPLER_DTYPES, simplest
from attnspec.specs.values import DISTRIBUTIONS


def backend(names=OPTIONS, runs_compiled=False, **constants):
    """A backend that claims these keywords; it is never called."""
    parameters = "".join(f", {name}=None" for name in names)
    function = eval(f"lambda query, key, value{parameters}: None")
    arrays = SimpleNamespace(TRANSFORMS=frozenset(), RUNS_COMPILED=runs_compiled, FLUSHES_SUBNORMALS=False)
    return Backend("planned", function, read_declaration({"ARRAYS": "numpy", **constants}), arrays)


ALL_DTYPES = ("float64", "float32", "float16", "bfloat16")

BACKENDS = {
    "everything": backend(DTYPES=ALL_DTYPES),
    "compiled": backend(DTYPES=ALL_DTYPES, runs_compiled=True),
    "torch's": backend(("mask", "is_causal", "scale"), LACKS={"mask+is_causal", "gqa"}),
    "no options": backend(()),
    "one dtype": backend(DTYPES=["float16"]),
    "plain shapes": backend(LACKS=set(SHAPE_FEATURES), DTYPES=["float32"]),
    "tangled": backend(
        LACKS={"mask+is_causal", "mask+float16", "cross+is_causal", "gqa+sinks+bias", "query_segments+bias", "rank2"}
    ),
    "one segment": backend(LACKS={"query_segments"}),
}

plans = pytest.mark.parametrize("planned", BACKENDS.values(), ids=BACKENDS)


def allowed(planned, features):
    """Whether no declared lack is contained in the features; from the declaration itself."""
    return not any(lack <= features for lack in planned.declaration.lacks)


def options_of(planned):
    """The options of SETTINGS that the function has and does not lack."""
    names = planned.function.__code__.co_varnames
    return [o for o in SETTINGS if all(n in names and allowed(planned, {n}) for n in keywords(o))]


@cache
def rows(planned):
    return plan(planned)


FEATURES = {shape: shape.features for shape in POOL}


def chosen(recipe):
    return {option for option, _ in recipe.settings}


@plans
def test_the_options_planned_are_those_claimed(planned):
    assert list(claimed(planned)) == options_of(planned)
    assert set().union(*map(chosen, rows(planned))) == set(options_of(planned))


@plans
def test_every_pair_of_options_occurs_together(planned):
    seen = {pair for recipe in rows(planned) for pair in itertools.combinations(sorted(chosen(recipe)), 2)}
    wanted = {
        pair
        for pair in itertools.combinations(sorted(options_of(planned)), 2)
        if allowed(planned, keywords(pair[0]) | keywords(pair[1]))
    }
    assert seen >= wanted
    assert all(pair in wanted for pair in seen)


@plans
def test_every_option_occurs_without_every_other(planned):
    options = options_of(planned)
    for one, other in itertools.permutations(options, 2):
        assert any(one in chosen(r) and other not in chosen(r) for r in rows(planned)), (one, other)


@plans
def test_every_option_meets_every_dtype(planned):
    for option, dtype in itertools.product(options_of(planned), planned.declaration.dtypes):
        if allowed(planned, keywords(option) | {dtype}):
            assert any(option in chosen(r) and r.dtype == dtype for r in rows(planned)), (option, dtype)


@plans
def test_every_option_meets_every_shape(planned):
    """Compiled, it is enough that it meets one shape for each set of features, whatever the length."""
    for option, shape in itertools.product(options_of(planned), POOL):
        if not allowed(planned, keywords(option) | FEATURES[shape]):
            continue
        met = [r.shape for r in rows(planned) if option in chosen(r)]
        if planned.arrays.RUNS_COMPILED:
            assert FEATURES[shape] - LENGTHS in [FEATURES[s] - LENGTHS for s in met], (option, shape)
        else:
            assert shape in met, (option, shape)


@plans
def test_every_shape_and_dtype_occurs(planned):
    recipes = rows(planned)
    assert {r.shape for r in recipes} == {shape for shape in POOL if allowed(planned, FEATURES[shape])}
    assert {r.dtype for r in recipes} == set(planned.declaration.dtypes)


@plans
def test_no_lack_is_asked_for(planned):
    for recipe in rows(planned):
        features = recipe.problem().features
        assert allowed(planned, features), features
        assert planned.supports(features)


@plans
def test_the_plan_is_no_longer_than_it_must_be(planned):
    """Far below the product of all options; two hundred rows at the very most."""
    recipes = rows(planned)
    assert len(set(recipes)) == len(recipes) <= 200


@pytest.mark.parametrize("name", ["everything", "compiled", "one dtype"])
def test_every_setting_and_distribution_occurs(name):
    recipes = rows(BACKENDS[name])
    pairs = {pair for recipe in recipes for pair in recipe.settings}
    assert pairs == {(option, setting) for option in SETTINGS for setting in SETTINGS[option]}
    assert {recipe.values for recipe in recipes} == set(DISTRIBUTIONS)


@pytest.mark.parametrize("name", ["everything", "one dtype"])
def test_every_pair_of_settings_occurs(name):
    met = {frozenset(pair) for recipe in rows(BACKENDS[name]) for pair in itertools.combinations(recipe.settings, 2)}
    settings = [(option, setting) for option in SETTINGS for setting in SETTINGS[option]]
    assert {frozenset(pair) for pair in itertools.combinations(settings, 2) if pair[0][0] != pair[1][0]} <= met


def test_every_setting_occurs_alone_in_telling_numbers():
    alone = {recipe.settings[0] for recipe in rows(BACKENDS["everything"]) if len(recipe.settings) == 1}
    assert alone == {(option, setting) for option in SETTINGS for setting in SETTINGS[option]}


@pytest.mark.parametrize("name", ["everything", "compiled"])
def test_each_dtype_occurs_in_a_small_problem_without_options(name):
    small = (row for row in rows(BACKENDS[name]) if row.shape == PLAINEST.shape)
    assert {row.dtype for row in small if not row.settings} == set(ALL_DTYPES)


@plans
def test_each_dtype_meets_each_long_shape(planned):
    """There rounding adds up."""
    long = {shape for shape in POOL if shape.keys >= 100 and allowed(planned, FEATURES[shape])}
    wanted = set(itertools.product(long, planned.declaration.dtypes))
    assert wanted <= {(row.shape, row.dtype) for row in rows(planned)}


@plans
def test_the_plan_is_the_same_each_time(planned):
    assert plan(planned) == plan(planned)


PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import test_plan
for recipe in test_plan.plan(test_plan.BACKENDS["tangled"]):
    print(recipe.to_json())
"""


def test_the_plan_is_the_same_in_every_process():
    program = PROGRAM.format(folder=__file__.rpartition("/")[0])
    printed = [
        subprocess.run(
            [sys.executable, "-P", "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1] == "".join(f"{r.to_json()}\n" for r in plan(BACKENDS["tangled"]))


def test_the_pool_holds_what_breaks_things():
    sizes = [(s.batch, s.heads, s.kv_heads, s.queries, s.keys, s.key_dim, s.value_dim) for s in POOL]
    assert len(set(POOL)) == len(POOL)
    assert {feature for shape in POOL for feature in shape.features} == set(SHAPE_FEATURES)
    assert any(1 < kv < q and kv != q // kv for _, q, kv, *_ in sizes)
    assert any(queries < keys for *_, queries, keys, _, _ in sizes)
    assert any(queries > keys > 0 for *_, queries, keys, _, _ in sizes)
    assert {0, 1} <= set(itertools.chain(*sizes))
    for position in (0, 3, 4, 5, 6):
        assert any(size[position] == 0 for size in sizes)
        assert any(size[position] == 1 for size in sizes)


def test_the_plainest_problem_asks_for_nothing():
    assert PLAINEST.problem().features == {"float32"}


def test_other_numbers_keep_shape_dtype_and_options():
    recipe = plan(BACKENDS["everything"])[0]
    other = with_values(recipe, "tiny", 77)
    assert (other.values, other.seed) == ("tiny", 77)
    assert (other.shape, other.dtype, other.settings) == (recipe.shape, recipe.dtype, recipe.settings)


FULL = Recipe(Shape(2, 6, 2, 4, 7, 8, 5), "bfloat16", "opposed", 19).with_settings(
    mask="holed", bias="hiding", is_causal="on", window="open-right", sinks="gaussian"
)

SMALLEST = Recipe(Shape(), "float32", "small-integers", 0)


def always(recipe):
    return True


def two_keys(recipe):
    return recipe.shape.keys >= 2


def masked(recipe):
    return "mask" in chosen(recipe)


def masked_and_causal(recipe):
    return {"mask", "is_causal"} <= chosen(recipe)


def grouped(recipe):
    return recipe.shape.heads > recipe.shape.kv_heads > 1


def half(recipe):
    return recipe.dtype in ("float16", "bfloat16")


def unlike_sizes(recipe):
    return recipe.shape.queries > recipe.shape.key_dim > 2


def wild(recipe):
    return recipe.values not in ("small-integers", "gaussian", "uniform", "one-hot", "constant", "duplicated-rows")


def late_seed(recipe):
    return recipe.seed > 10


@pytest.mark.parametrize(
    ("fails", "smallest"),
    [
        (always, SMALLEST),
        (two_keys, Recipe(Shape(keys=2), "float32", "small-integers")),
        (masked, SMALLEST.with_settings(mask="shared")),
        (masked_and_causal, SMALLEST.with_settings(mask="shared", is_causal="on")),
        (grouped, Recipe(Shape(heads=4, kv_heads=2), "float32", "small-integers")),
        (half, Recipe(Shape(), "float16", "small-integers")),
        (unlike_sizes, Recipe(Shape(queries=4, key_dim=3), "float32", "small-integers")),
        (wild, Recipe(Shape(), "float32", "large")),
        (late_seed, Recipe(Shape(), "float32", "small-integers", 11)),
    ],
)
def test_the_smallest_failing_recipe_is_found(fails, smallest):
    found = simplest(FULL, fails)
    assert found == smallest
    assert found == simplest(FULL, fails)


def test_what_only_the_recipe_itself_shows_is_kept():
    assert simplest(FULL, lambda recipe: recipe == FULL, attempts=50) == FULL
    assert simplest(FULL, lambda recipe: False, attempts=50) == FULL


def test_what_fails_only_once_does_no_harm():
    calls = itertools.count()
    assert isinstance(simplest(FULL, lambda recipe: next(calls) == 3), Recipe)


def test_nothing_is_made_larger():
    for recipe in (FULL, Recipe(POOL[10]), Recipe(POOL[12]), Recipe(POOL[19]), Recipe(POOL[20])):
        tried = []
        simplest(recipe, lambda candidate, tried=tried: tried.append(candidate), attempts=60)
        assert tried
        for candidate in tried:
            assert candidate.seed <= recipe.seed
            assert chosen(candidate) <= chosen(recipe)
            assert SIMPLER_DTYPES.index(candidate.dtype) <= SIMPLER_DTYPES.index(recipe.dtype)
            assert candidate.shape.heads % max(candidate.shape.kv_heads, 1) == 0
            for name in ("batch", "heads", "kv_heads", "queries", "keys", "key_dim", "value_dim"):
                size, limit = getattr(candidate.shape, name), getattr(recipe.shape, name)
                assert min(limit, 1) <= size <= limit
            candidate.problem()


def test_dropout_is_probed_where_values_are_as_wide_as_keys():
    probes = {
        probe for invariant in catalogue().values() if invariant.family == "dropout" for probe in invariant.probes
    }
    assert probes
    assert not any("value_dim" in probe("float32").features for probe in probes)


def test_what_hides_keys_is_tried_alone_where_the_cases_hide_none():
    """Keys that no query sees, which a plan of few rows may not have."""
    planned, invariant = backend(("mask", "is_causal"), runs_compiled=True), catalogue()["gradient.hidden_zero"]
    planned = dataclasses.replace(
        planned, arrays=SimpleNamespace(**{**vars(planned.arrays), "TRANSFORMS": {"gradient"}})
    )
    alone = {row.settings for row in bare(invariant, planned, PROFILES["default"])}
    assert alone == {(), *((("mask", name),) for name in SETTINGS["mask"]), (("is_causal", "on"),)}


def test_compiled_calls_meet_a_mask_alone_with_a_row_that_sees_no_key():
    eager = backend(("mask", "is_causal"))
    able = dataclasses.replace(eager, arrays=SimpleNamespace(**{**vars(eager.arrays), "TRANSFORMS": {"compile"}}))
    rows = [*itertools.islice(cases(catalogue()["purity.compiled"], able, PROFILES["default"]), 6)]
    assert {"mask"} in [chosen(row) for row in rows if able.solution(row.problem()).empty.any()]


@pytest.mark.parametrize("names", [("mask",), ("mask", "is_causal"), ("mask", "key_lengths", "bias"), OPTIONS])
def test_masks_over_one_key_do_not_all_show_it(names):
    masked_rows = [recipe for recipe in plan(backend(names)) if "mask" in chosen(recipe)]
    lone = {recipe.shape for recipe in masked_rows if recipe.shape.keys == 1}
    assert lone == {shape for shape in POOL if shape.keys == 1}
    assert lone == {recipe.shape for recipe in masked_rows if not recipe.problem().options["mask"].all()} & lone
