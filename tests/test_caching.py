"""The driver that feeds a problem through a cache, and what it compares with, on caches too simple to be wrong."""

import dataclasses

import numpy as np
import pytest

from attnspec.impls.arrays import numpy as arrays
from attnspec.specs.backend import Backend, BackendError, Malformed
from attnspec.specs.caching import ROW, Chunk, Decoder, Store, chunks, claims, refusal, sequence, whole
from attnspec.specs.cases import PROFILES
from attnspec.specs.catalogue import catalogue
from attnspec.specs.contract import read_declaration
from attnspec.specs.examine import examine
from attnspec.specs.outcome import FAILED, NOT_CLAIMED, PASSED
from attnspec.specs.recipe import Recipe, Shape

FAMILY = [id for id in catalogue() if id.startswith("caching.")]


def attention(query, key, value):
    group = query.shape[-3] // key.shape[-3]
    key, value = (np.repeat(array, group, axis=-3) for array in (key, value))
    scores = query @ key.swapaxes(-1, -2) / query.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value


def make_cache(batch, kv_heads, capacity, key_dim, value_dim, dtype):
    return capacity, []


def attend_cached(query, key, value, cache):
    """One token at a time, and each over a list of the keys and values that came before: nothing to hide."""
    capacity, past = cache
    outputs = []
    for token in range(query.shape[2]):
        one = slice(token, token + 1)
        past = [*past, (key[:, :, one], value[:, :, one])]
        keys, values = (np.concatenate([pair[i] for pair in past], axis=2) for i in (0, 1))
        outputs.append(attention(query[:, :, one], keys, values))
    if len(past) > capacity:
        raise ValueError("attend_cached: wanted no more tokens than there is room for")
    return np.concatenate(outputs, axis=2), (capacity, past)


def windowed(batch, kv_heads, capacity, key_dim, value_dim, dtype, *, window=None, block_size=None):
    return capacity, []


def with_options(query, key, value, cache, *, lengths=None, scale=None):
    return attend_cached(query, key, value, cache)


def backend(make_cache=make_cache, attend_cached=attend_cached, **constants):
    declaration = read_declaration({"ARRAYS": "numpy", "DTYPES": ["float64"], **constants})
    functions = {"make_cache": make_cache, "attend_cached": attend_cached}
    return Backend("plain", attention, declaration, arrays, functions=functions)


def drawn(tokens=6, batch=2, **options):
    shape = Shape(batch, 4, 2, tokens, tokens, 3, 5)
    return Recipe(shape, "float64", "gaussian", 3).problem().with_options(**options)


def by_hand(problem, window=None):
    """Each token's own sum over the tokens that it sees."""
    output = np.zeros((*problem.query.shape[:3], problem.value.shape[3]))
    for i in range(problem.query.shape[2]):
        seen = slice(0 if window is None else max(i - window + 1, 0), i + 1)
        output[:, :, i : i + 1] = attention(
            problem.query[:, :, i : i + 1], problem.key[:, :, seen], problem.value[:, :, seen]
        )
    return output


@pytest.mark.parametrize("window", [None, 1, 2, 5, 6, 9])
@pytest.mark.parametrize("convention", ["reach", "count"])
def test_the_whole_is_each_token_over_what_it_sees(window, convention):
    problem = drawn()
    output, bound = whole(backend(CONVENTIONS={"window": convention}), problem, Store(window))
    np.testing.assert_allclose(output, by_hand(problem, window), rtol=1e-13)
    assert (bound < 1e-12).all()


@pytest.mark.parametrize("sizes", [[6], [1] * 6, [2, 3, 1], [5, 1]])
def test_chunks_give_the_whole(sizes):
    problem = drawn()
    output, fed = Decoder(backend(), problem).feed(chunks(sizes))
    np.testing.assert_allclose(output, by_hand(problem), rtol=1e-13)
    assert fed.all()


def test_what_is_not_fed_is_zero_and_told():
    output, fed = Decoder(backend(), drawn()).feed(chunks([2, 1]))
    assert fed.tolist() == [[True] * 3 + [False] * 3] * 2
    assert not output[:, :, 3:].any()


def test_ragged_chunks_are_filled_and_go_on_behind_the_last_token():
    problem, calls = drawn(batch=2), []

    def recording(query, key, value, cache, *, lengths=None):
        calls.append((query, key, value, lengths))
        return np.zeros((*query.shape[:3], value.shape[3])), cache

    decoder = Decoder(backend(attend_cached=recording), problem)
    _, fed = decoder.feed([Chunk(3, (1, 3)), Chunk(2, (2, 0)), Chunk(1)], padding=np.nan)
    assert [list(lengths) if lengths is not None else None for *_, lengths in calls] == [[1, 3], [2, 0], None]
    assert fed.tolist() == [[True] * 4 + [False] * 2] * 2
    places = [[[0, None, None], [0, 1, 2]], [[1, 2], [None, None]], [[3], [3]]]
    for (*came, _), place in zip(calls, places, strict=True):
        for array, whole_array in zip(came, (problem.query, problem.key, problem.value), strict=True):
            for sample, tokens in enumerate(place):
                for token, at in enumerate(tokens):
                    wanted = np.nan if at is None else whole_array[sample, :, at]
                    np.testing.assert_array_equal(array[sample, :, token], wanted)


def test_outputs_of_padding_are_left_out():
    problem = drawn(batch=2)

    def counting(query, key, value, cache, *, lengths=None):
        return np.broadcast_to(np.arange(1.0, query.shape[2] + 1)[:, None], (*query.shape[:3], value.shape[3])), cache

    output, fed = Decoder(backend(attend_cached=counting), problem).feed([Chunk(3, (1, 3)), Chunk(2, (2, 0))])
    assert output[0, 0, :, 0].tolist() == [1, 1, 2, 0, 0, 0]
    assert output[1, 0, :, 0].tolist() == [1, 2, 3, 0, 0, 0]
    assert fed.sum() == 6


def test_a_decoder_tells_its_history():
    def zeros(query, key, value, cache, *, lengths=None):
        return np.zeros((*query.shape[:3], value.shape[3])), cache

    decoder = Decoder(backend(windowed, zeros), drawn(), Store(window=2))
    assert str(decoder) == "ring of 2 after nothing"
    decoder.feed([Chunk(2), Chunk(3, (1, 2))])
    assert str(decoder) == "ring of 2 after 2, 3 with lengths [1, 2]"


def test_layout_is_the_one_of_attention():
    def turned(query, key, value, cache):
        output, cache = attend_cached(*(a.swapaxes(1, 2) for a in (query, key, value)), cache)
        return output.swapaxes(1, 2), cache

    problem = drawn()
    decoder = Decoder(backend(attend_cached=turned, CONVENTIONS={"layout": "BLHD"}), problem)
    np.testing.assert_allclose(decoder.feed(chunks([6]))[0], by_hand(problem), rtol=1e-13)


def test_sequences_are_cut_to_what_has_query_key_and_value():
    problem = Recipe(Shape(1, 1, 1, 4, 7, 2, 2), "float64", "gaussian").problem().with_options(scale=0.5)
    assert sequence(problem).shape == (1, 1, 1, 4, 4, 2, 2)
    assert dict(sequence(problem).options) == {"scale": 0.5}
    assert dict(sequence(problem, with_scale=False).options) == {}
    assert sequence(problem, tokens=3).shape == (1, 1, 1, 3, 3, 2, 2)
    assert sequence(problem) is sequence(problem)


def test_what_a_signature_lacks_is_not_claimed():
    plain, rich = backend(), backend(windowed, with_options)
    keywords = ("window", "block_size", "lengths", "scale")
    assert [claims(plain, keyword) for keyword in keywords] == [False] * 4
    assert [claims(rich, keyword) for keyword in keywords] == [True] * 4


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda output, cache: output, "attend_cached: wanted a tuple of output and cache, came a ndarray"),
        (
            lambda output, cache: (output, cache, 3),
            "attend_cached: wanted a tuple of output and cache, came a tuple of 3",
        ),
        (lambda output, cache: (output.tolist(), cache), "attend_cached: wanted a numpy array as output, came list"),
        (lambda output, cache: (output[:1], cache), "attend_cached: wanted an output of"),
        (lambda output, cache: (output.astype("float32"), cache), "attend_cached: wanted an output of"),
    ],
)
def test_what_is_no_output_is_told(returned, message):
    decoder = Decoder(backend(attend_cached=lambda q, k, v, c: returned(*attend_cached(q, k, v, c))), drawn())
    with pytest.raises(Malformed, match=message):
        decoder.feed(chunks([2]))


def test_what_is_raised_is_told_with_the_function():
    def broken(*sizes):
        raise KeyError("no")

    with pytest.raises(BackendError, match="make_cache raised KeyError"):
        Decoder(backend(make_cache=broken), drawn())
    with pytest.raises(BackendError, match="attend_cached raised KeyError") as caught:
        Decoder(backend(attend_cached=broken), drawn()).feed(chunks([1]))
    assert {"attend_cached", "gqa"} <= caught.value.features


def test_a_refusal_is_told_by_its_name():
    decoder = Decoder(backend(), drawn(tokens=2))
    assert refusal(decoder, Chunk(2)) == "an output"
    assert refusal(decoder, Chunk(1)) == "ValueError"


@pytest.mark.parametrize("id", FAMILY)
@pytest.mark.parametrize("lack", ["rank3", "gqa", "attend_cached+gqa", "value_dim", "cross", "zero_size"])
def test_a_list_of_the_past_is_a_cache(id, lack):
    outcome = examine(catalogue()[id], backend(LACKS={lack}), PROFILES["quick"])
    needs = {"around_the_window", "evicted", "padding_unread", "ragged", "block_size"}
    assert outcome.status == (NOT_CLAIMED if id.split(".")[1] in needs else PASSED), outcome.failure


@pytest.mark.parametrize("id", FAMILY)
def test_what_is_claimed_and_raises_is_a_violation(id):
    def broken(*arguments, window=None, block_size=None, lengths=None, scale=None):
        raise TypeError("no")

    outcome = examine(catalogue()[id], backend(windowed, broken), PROFILES["default"], shrink=False)
    assert outcome.status == FAILED
    assert "attend_cached" in outcome.failure.message or "ValueError" in outcome.failure.message


@pytest.mark.parametrize("id", FAMILY)
@pytest.mark.parametrize("functions", [set(), {"make_cache"}, {"attend_cached"}])
def test_a_cache_takes_both_functions(id, functions):
    plain = backend()
    some = dataclasses.replace(plain, functions={name: plain.functions[name] for name in functions})
    assert examine(catalogue()[id], some, PROFILES["default"]).status == NOT_CLAIMED


def test_a_lack_can_take_groups_away_from_caches_alone():
    lacking = backend(LACKS={"attend_cached+gqa"})
    features = frozenset({"gqa", "float64"})
    assert lacking.supports(features)
    assert not catalogue()["caching.chunks"].takes(lacking, features)
    assert catalogue()["caching.chunks"].takes(lacking, frozenset({"float64"}))


def test_kinds_of_stores_have_names():
    assert [str(store) for store in (ROW, Store(window=3), Store(block_size=4))] == [
        "cache",
        "ring of 3",
        "cache in pages of 4",
    ]
