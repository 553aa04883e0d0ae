"""What packs are made of and compared with, on an attend_packed too simple to be wrong."""

import dataclasses
import itertools
from importlib import import_module

import numpy as np
import pytest

from attnspec.impls.arrays import numpy as arrays
from attnspec.specs.backend import Backend, BackendError, Malformed
from attnspec.specs.cases import PROFILES
from attnspec.specs.catalogue import catalogue
from attnspec.specs.contract import read_declaration
from attnspec.specs.examine import examine
from attnspec.specs.invariants.packs import ids, malformed, ranges, with_segments
from attnspec.specs.outcome import FAILED, NOT_CLAIMED, PASSED
from attnspec.specs.packing import ARGUMENTS, exact, solve
from attnspec.specs.packs import KEYWORDS, PROBES, allows, claims, packed
from attnspec.specs.recipe import Recipe, Shape

FAMILY = [id for id in catalogue() if id.startswith("packing.")]


def attention(query, key, value):
    """(L, D), (S, D), (S, Dv)"""
    scores = query @ key.T / query.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
    return (
        np.divide(weights, weights.sum(-1, keepdims=True)) @ value if len(key) else np.zeros((len(query), len(value.T)))
    )


def attend_packed(query, key, value, query_offsets, key_offsets):
    """One query at a time, over the keys of its sequence: nothing to mistake."""
    for offsets, tokens in ((query_offsets, query), (key_offsets, key)):
        steps = np.diff(offsets)
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(tokens) or (steps < 0).any():
            raise ValueError("offsets")
    if len(query_offsets) != len(key_offsets):
        raise ValueError("offsets")
    output = np.zeros((*query.shape[:2], value.shape[2]), query.dtype)
    group = query.shape[1] // key.shape[1]
    for token, head in itertools.product(range(len(query)), range(query.shape[1])):
        b = max(i for i in range(len(query_offsets)) if query_offsets[i] <= token)
        own = slice(int(key_offsets[b]), int(key_offsets[b + 1]))
        one = query[token, head][None]
        output[token, head] = attention(one, key[own, head // group], value[own, head // group])[0]
    return output


def backend(function=attend_packed, **constants):
    declaration = read_declaration({"ARRAYS": "numpy", "DTYPES": ["float64"], **constants})
    return Backend("plain", attention, declaration, arrays, functions={"attend_packed": function})


def everything(
    query, key, value, query_offsets, key_offsets, *, is_causal, scale, window, softcap, alibi_slopes, sinks
):
    raise TypeError("no")


SHAPE = Shape(3, 4, 2, 5, 7, 3, 2)


def drawn(seed=0, shape=SHAPE):
    return Recipe(shape, "float64", "gaussian", seed).problem()


def test_a_pack_is_the_batch_in_a_row():
    problem = drawn()
    pack = packed(backend(), problem)
    np.testing.assert_array_equal(pack.query, np.concatenate([sample.swapaxes(0, 1) for sample in problem.query]))
    assert (pack.query.shape, pack.key.shape, pack.value.shape) == ((15, 4, 3), (21, 2, 3), (21, 2, 2))


@pytest.mark.parametrize("seed", range(8))
def test_offsets_rise_and_leave_some_sequences_without_tokens(seed):
    pack = packed(backend(), drawn(seed))
    assert pack.query_offsets.dtype == (np.int64 if seed % 2 else np.int32)
    queries, keys = np.diff(pack.query_offsets), np.diff(pack.key_offsets)
    assert (queries.sum(), keys.sum()) == (15, 21)
    assert min(queries.min(), keys.min()) == 0
    assert ((queries == 0) & (keys == 0)).any()


@pytest.mark.parametrize("lack", ["zero_size", "attend_packed+zero_size"])
def test_a_lack_rules_out_empty_sequences(lack):
    pack = packed(backend(LACKS={lack}), drawn())
    assert min(np.diff(pack.query_offsets).min(), np.diff(pack.key_offsets).min()) > 0


def test_a_lack_rules_out_other_numbers_of_keys():
    pack = packed(backend(LACKS={"attend_packed+cross"}), drawn(shape=Shape(3, 2, 2, 5, 5, 3, 3)))
    np.testing.assert_array_equal(pack.query_offsets, pack.key_offsets)


def test_eight_seeds_have_each_two_keywords_in_every_way():
    rich = backend(everything)
    on = [set(packed(rich, drawn(seed)).options) for seed in range(3, 11)]
    for first, second in itertools.combinations(KEYWORDS, 2):
        met = [(first in each, second in each) for each in on]
        assert sorted(met) == sorted([(a, b) for a in (True, False) for b in (True, False)] * 2)


def test_what_a_signature_lacks_is_not_claimed():
    assert [claims(backend(), keyword) for keyword in KEYWORDS] == [False] * len(KEYWORDS)
    assert [claims(backend(everything), keyword) for keyword in KEYWORDS] == [True] * len(KEYWORDS)
    lacking = backend(everything, LACKS={"window"})
    assert not claims(lacking, "window")
    assert not any("window" in packed(lacking, drawn(seed)).options for seed in range(8))


def test_options_together_stay_within_the_claims():
    lacking, problem = backend(everything, LACKS={"is_causal+nonpositive_scale"}), drawn(2)
    pack = packed(lacking, problem)
    assert not allows(lacking, problem, pack.replace(options={"scale": -0.3}), is_causal=True)
    assert allows(lacking, problem, pack.replace(options={"scale": 0.5}), is_causal=True)
    options = [packed(lacking, drawn(seed)).options for seed in range(40)]
    assert not any("is_causal" in each and each.get("scale", 1) <= 0 for each in options)


def test_negative_values_stay_within_the_claims():
    lacking = backend(everything, LACKS={"negative_window", "nonpositive_scale"})
    options = [packed(lacking, drawn(seed)).options for seed in range(40)]
    assert min(each["scale"] for each in options if "scale" in each) > 0
    assert min(n or 0 for each in options if "window" in each for n in each["window"]) >= 0


def test_the_exact_output_is_that_of_each_sequence():
    pack = packed(backend(), drawn())
    output, bound = exact(backend(), pack)
    np.testing.assert_allclose(output, solve(backend(), pack), rtol=0, atol=1e-13)
    assert bound.shape == output.shape
    assert (bound < 1e-12).all()


def test_sequences_in_another_order_keep_their_tokens():
    pack = packed(backend(), drawn(1))
    order = np.arange(len(pack.sequences))[::-1]
    other, places = pack.reordered(order)
    for mine, its in zip(pack.sequences, other.sequences[::-1], strict=True):
        for name in ("query", "key", "value"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(its, name))
    np.testing.assert_array_equal(other.query, pack.query[places])


def test_segments_are_the_sequences():
    pack = packed(backend(), drawn(2))
    whole = with_segments(pack)
    for number, (queries, keys) in enumerate(ranges(pack)):
        assert (whole.options["query_segments"][0, queries] == number).all()
        assert (whole.options["key_segments"][0, keys] == number).all()
    assert len(ids(pack.query_offsets)) == len(pack.query)


@pytest.mark.parametrize("seed", range(20))
def test_malformed_offsets_are_malformed(seed):
    pack = packed(backend(), drawn(seed))
    cases = list(malformed(pack))
    assert len(cases) == 16
    for what, changed in cases:
        with pytest.raises(BackendError, match="ValueError"):
            solve(backend(), pack.replace(**changed))
        assert what.startswith(next(iter(changed)))


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda output: output.tolist(), "attend_packed: wanted one array, came a list"),
        (lambda output: output[1:], "attend_packed: wanted float64"),
        (lambda output: output.astype("float32"), "attend_packed: wanted float64"),
    ],
)
def test_what_is_no_output_is_told(returned, message):
    wrong = backend(lambda *arguments: returned(attend_packed(*arguments)))
    with pytest.raises(Malformed, match=message):
        solve(wrong, packed(wrong, drawn()))


@pytest.mark.parametrize("id", FAMILY)
@pytest.mark.parametrize("lack", ["rank3", "gqa", "attend_packed+gqa", "value_dim", "cross", "zero_size"])
def test_one_query_at_a_time_is_right(id, lack):
    outcome = examine(catalogue()[id], backend(LACKS={lack}), PROFILES["quick"])
    unclaimed = {"packing.causality", "packing.segments", "packing.gradient"}
    unclaimed |= {"packing.blank"} if lack == "zero_size" else set()
    assert outcome.status == (NOT_CLAIMED if id in unclaimed else PASSED), outcome.failure


@pytest.mark.parametrize("id", [id for id in FAMILY if id not in ("packing.malformed", "packing.gradient")])
def test_what_is_claimed_and_raises_is_a_violation(id):
    def with_segments(query, key, value, *, query_segments=None, key_segments=None):
        return np.zeros((*query.shape[:-1], value.shape[-1]), query.dtype)

    broken = dataclasses.replace(backend(everything), function=with_segments)
    outcome = examine(catalogue()[id], broken, PROFILES["default"], shrink=False)
    assert outcome.status == FAILED
    assert "attend_packed raised TypeError" in outcome.failure.message


def test_the_first_probes_have_what_breaks_things():
    """Where each shape costs a compilation, the first six are all there is."""
    first = [probe("float32") for probe in PROBES[:6]]
    features = frozenset().union(*(problem.features for problem in first))
    assert {"gqa", "value_dim", "cross", "float32", "float16"} <= features
    asked = frozenset().union(*(packed(backend(everything), problem).options for problem in first))
    assert asked == set(KEYWORDS)


def test_the_first_probes_go_in_pairs_of_one_compilation():
    packs = [packed(backend(everything), probe("float32")) for probe in PROBES[:6]]
    for first, second in (packs[:2], packs[2:4], packs[4:]):
        assert [array.shape for array in _arrays(first)] == [array.shape for array in _arrays(second)]
        assert [array.dtype for array in _arrays(first)] == [array.dtype for array in _arrays(second)]
        assert {n: v for n, v in first.options.items() if not isinstance(v, np.ndarray)} == {
            n: v for n, v in second.options.items() if not isinstance(v, np.ndarray)
        }
        assert not np.array_equal(first.query_offsets, second.query_offsets)


def _arrays(pack):
    arguments = [getattr(pack, name) for name in ARGUMENTS]
    return arguments + [value for value in pack.options.values() if isinstance(value, np.ndarray)]


@pytest.mark.parametrize("id", FAMILY)
def test_what_torch_mutants_begin_with_is_right(id):
    pytest.importorskip("torch")
    from attnspec.impls.arrays import torch as binding
    from attnspec.mutants.correct._torch_packing import Packed

    declaration = read_declaration({"ARRAYS": "torch", "CONVENTIONS": {"intermediate_dtype": "float32"}})
    functions = {"attend_packed": Packed.attend_packed}
    outcome = examine(
        catalogue()[id],
        Backend("torch", Packed.attention, declaration, binding, functions=functions),
        PROFILES["default"],
    )
    assert outcome.status == (NOT_CLAIMED if id == "packing.segments" else PASSED), outcome.failure


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_no_sequence_at_all_gives_no_row(library):
    pytest.importorskip(library)
    module, binding = (import_module(f"attnspec.impls.{name}") for name in (f"{library}_naive", f"arrays.{library}"))
    empty = (np.zeros((0, heads, 4), np.float32) for heads in (4, 2, 2))
    natives = [binding.asarray(a, "cpu") for a in (*empty, np.zeros(1, np.int32), np.zeros(1, np.int32))]
    assert binding.to_numpy(module.attend_packed(*natives)).shape == (0, 4, 4)


def test_traced_offsets_give_what_concrete_ones_give():
    jax = pytest.importorskip("jax")
    from attnspec.impls import jax_naive
    from attnspec.impls.arrays import jax as binding

    pack = packed(backend(), drawn(1))
    natives = [
        binding.asarray(getattr(pack, n), "cpu") for n in ("query", "key", "value", "query_offsets", "key_offsets")
    ]
    came = jax.jit(jax_naive.attend_packed)(*natives)
    np.testing.assert_allclose(np.asarray(came), exact(backend(), pack)[0], rtol=0, atol=1e-12)
