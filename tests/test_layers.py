"""The layers conform on each array library, over each backend as their core, and refuse bad input in one clear line."""

from types import SimpleNamespace

import numpy as np
import pytest

from attnspec.impls import layers
from attnspec.impls.layers import feedforward, residual, transformer
from attnspec.impls.layers.core import core, default_core
from attnspec.impls.layers.initialise import fans
from attnspec.layers import load
from attnspec.specs.bound import Precision
from attnspec.specs.catalogue import hold
from attnspec.specs.layers.case import Case, cases
from attnspec.specs.layers.catalogue import examine_layers, layer_catalogue
from attnspec.specs.layers.definition import causal, multi_head
from attnspec.specs.layers.library import float64
from attnspec.specs.layers.rounded import exact
from attnspec.specs.outcome import NOT_CLAIMED, PASSED
from attnspec.specs.positions import rotated

QUICK = ("linear", "norm_definition", "multi_head", "grouped_heads", "rotary", "encoder_layer", "refuses_ids")
"""What JAX compiles in seconds; ``attnspec verify --layers jax`` is for all."""


@pytest.mark.parametrize("id", layer_catalogue())
@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_layers_conform(name, id):
    pytest.importorskip(name)
    outcome = examine_layers(layer_catalogue()[id], load(name, None), cases())
    gradients = name != "numpy" or id not in ("layers.gradient", "layers.embedding_gradient")
    assert outcome.status == (PASSED if gradients else NOT_CLAIMED), outcome.reason


@pytest.mark.parametrize("id", QUICK)
def test_layers_conform_in_jax(id):
    pytest.importorskip("jax")
    outcome = examine_layers(layer_catalogue()[f"layers.{id}"], load("jax", None), cases())
    assert outcome.status == PASSED, outcome.reason


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("id", ["layers.encoder_layer", "layers.cached_attention", "layers.whole_source"])
def test_layers_conform_whatever_the_numbers(id, seed):
    assert examine_layers(layer_catalogue()[id], load("numpy", None), cases(seed)).status == PASSED


BACKENDS = ["numpy_naive", "numpy_blockwise", "torch_naive", "torch_sdpa", "torch_sdpa_math"]
BACKENDS += ["jax_naive", "jax_dot_product_attention"]
FLOAT32 = Case("float32")
WIDTHS = pytest.mark.parametrize("value_width", [3, 6])
"""Narrower and wider than the keys' 4."""


def hold_core(attention, arrays, value_width):
    """Grouped heads, values of another width, a mask and causality at once, over one core."""
    sizes = {"kv_heads": 2, "key_width": 4, "value_width": value_width}
    library, layer = load(arrays, None), layers.MultiHead(FLOAT32.width, 6, **sizes, attention=attention)
    p, x = FLOAT32.parameters(layer.shapes()), FLOAT32.tokens()
    mask = np.ones((FLOAT32.batch, 1, 1, FLOAT32.length), bool)
    mask[0, ..., -1] = False
    given = exact(x, "float32")
    wanted = multi_head(given, given, float64(p), 6, mask & causal(FLOAT32.length), 2)
    hold("output", library.call(layer, p, x, mask=mask, is_causal=True), wanted.value, wanted.error)


@WIDTHS
@pytest.mark.parametrize("backend", BACKENDS)
def test_each_backend_is_a_core(backend, value_width):
    arrays = backend.partition("_")[0]
    pytest.importorskip(arrays)
    hold_core(core(backend), arrays, value_width)


def plain(query, key, value, *, mask=None, scale=None):
    """A backend that does little: one key/value head for each query head, one mask."""
    assert query.shape[1] == key.shape[1]
    return default_core(query, key, value, mask=mask, scale=scale)


def blocking(query, key, value, *, mask=None, is_causal=False, scale=None):
    assert mask is None or not is_causal
    return default_core(query, key, value, mask=None if mask is None else ~mask, is_causal=is_causal, scale=scale)


def heads_last(query, key, value, *, mask=None, is_causal=False, scale=None):
    query, key, value = (a.swapaxes(1, 2) for a in (query, key, value))
    assert query.shape[3] == value.shape[3]
    return default_core(query, key, value, mask=mask, is_causal=is_causal, scale=scale).swapaxes(1, 2)


@WIDTHS
@pytest.mark.parametrize(
    "backend",
    [
        SimpleNamespace(attention=plain, LACKS={"gqa"}),
        SimpleNamespace(attention=blocking, LACKS={"mask+is_causal"}, CONVENTIONS={"mask": "block"}),
        SimpleNamespace(attention=heads_last, LACKS={"value_dim"}, CONVENTIONS={"layout": "BLHD"}),
    ],
    ids=lambda backend: backend.attention.__name__,
)
def test_a_core_follows_what_its_backend_declares(backend, value_width):
    hold_core(core.__wrapped__(backend), "numpy", value_width)


def test_a_bias_joins_the_mask_where_a_backend_takes_only_one():
    def attention(query, key, value, *, mask=None, bias=None):
        assert mask is None
        terms = np.exp(query @ key.mT / np.sqrt(query.shape[-1]) + bias)
        return terms / terms.sum(-1, keepdims=True) @ value

    biased = core.__wrapped__(SimpleNamespace(attention=attention, LACKS={"mask+bias"}))
    query, key, value = np.random.default_rng(0).standard_normal((3, 2, 3, 5, 4))
    came = biased(query, key, value, mask=np.arange(5) < 3, bias=np.zeros((5, 5)))
    assert np.allclose(came, biased(query, key[:, :, :3], value[:, :, :3], bias=np.zeros((5, 3))), rtol=0, atol=1e-14)


LIKE = np.zeros(0)
LAYER = layers.EncoderLayer(12, 3, 10)
REFUSED = [
    (lambda: layers.MultiHead(12, 5), "MultiHead: wanted heads that divide 12, came 5"),
    (lambda: layers.MultiHead(12, 4, 3), "MultiHead: wanted kv_heads that divide 4, came 3"),
    (lambda: layers.PerHead(12, 5), "MultiHead: wanted heads that divide 12, came 5"),
    (lambda: layers.FeedForward(4, 8, "swish"), "FeedForward: wanted an activation of relu, gelu, gelu_tanh"),
    (lambda: layers.Convolution(4, 2), "Convolution: wanted an odd kernel, came 2"),
    (lambda: layers.Draw(LIKE, "he"), "Draw: wanted a rule of gaussian, xavier, kaiming, came 'he'"),
    (lambda: layers.dropout(LIKE, 1.0, 0), "dropout: wanted a rate from 0 to below 1, came 1.0"),
    (lambda: layers.causal_mask(3, LIKE, offset=-1), "causal_mask: wanted an offset of 0 or more, came -1"),
    (lambda: layers.truncate(np.zeros((1, 3)), -1), "truncate: wanted a length of 0 or more, came -1"),
    (lambda: layers.truncate(np.zeros((1, 3)), 1, "top"), "truncate: wanted side 'right' or 'left', came 'top'"),
    (lambda: layers.rotary_embedding(np.zeros((1, 1, 2, 4)), layout="odd"), "rotary_embedding: wanted layout"),
    (lambda: fans((3,)), "fans: wanted a weight (outputs, inputs, …), came shape (3,)"),
    (
        lambda: LAYER(LAYER.init(layers.Draw(LIKE)), np.zeros((2, 12))),
        "EncoderLayer: wanted x (B, n, 12) of floating numbers, came float64 (2, 12)",
    ),
]


@pytest.mark.parametrize(("call", "told"), REFUSED, ids=lambda value: value[:30] if isinstance(value, str) else "")
def test_bad_input_is_one_clear_line(call, told):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        call()
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


def test_wrong_parameters_are_all_listed():
    p = LAYER.init(layers.Draw(LIKE))
    del p["attention.query.weight"], p["attention_norm.bias"]
    p |= {"extra": LIKE, "feed_forward.inner.weight": np.zeros((12, 10))}
    with pytest.raises(ValueError) as error:  # noqa: PT011
        LAYER(p, np.zeros((1, 2, 12)))
    assert str(error.value) == (
        "EncoderLayer: wanted parameters that did not come: attention.query.weight, attention_norm.bias; "
        "came parameters that are not wanted: extra; feed_forward.inner.weight: wanted shape (10, 12), came (12, 10)"
    )


def test_mixed_devices_and_libraries_are_refused():
    torch = pytest.importorskip("torch")
    norm = layers.LayerNorm(4)
    p = norm.init(layers.Draw(torch.zeros(0)))
    with pytest.raises(ValueError, match=r"LayerNorm: wanted one device, came meta \(input 0\) and cpu \(weight\)"):
        norm(p, torch.zeros((1, 2, 4), device="meta"))
    with pytest.raises(ValueError, match=r"LayerNorm: wanted one array library, came .*numpy.* and .*torch"):
        norm(p, np.zeros((1, 2, 4), np.float32))


def test_unknown_ids_are_let_through_where_jit_hides_them():
    jax = pytest.importorskip("jax")
    embedding = layers.Embedding(3, 2)
    p = embedding.init(layers.Draw(jax.numpy.zeros(0)))
    ids = jax.numpy.asarray([[0, 2]])
    assert (jax.jit(embedding)(p, ids) == embedding(p, ids)).all()


def test_grouped_heads_have_the_form_of_maps_too():
    grouped, apart = layers.MultiHead(12, 6, 2, 4, 3), layers.PerHead(12, 6, 4, 3)
    p, x = FLOAT32.parameters(grouped.shapes()), FLOAT32.tokens()
    given = exact(x, "float32")
    wanted = multi_head(given, given, float64(p), 6, None, 2)
    hold("output", apart(layers.per_head(grouped, p), x), wanted.value, wanted.error)


@pytest.mark.parametrize("layout", ["interleaved", "half-split"])
def test_rotary_embedding_is_that_of_the_layout(layout):
    x = FLOAT32.rng("rotary").standard_normal((2, 3, 5, 6)).astype("float32")
    wanted = rotated(x, Precision.of("float32", "input"), layout, offset=2)
    hold(layout, layers.rotary_embedding(x, offset=2, layout=layout), wanted.values, wanted.bound)


@pytest.mark.parametrize("norm_first", [False, True])
def test_each_place_of_dropout_has_its_own_seed(monkeypatch, norm_first):
    seeds = []
    for module in (residual, feedforward, transformer):
        monkeypatch.setattr(module, "dropout", lambda x, rate, seed: (seeds.append((rate, seed)), x)[1])
    model = layers.Transformer(5, 5, 12, 3, 10, 2, norm_first=norm_first, dropout=0.25)
    model(model.init(layers.Draw(LIKE)), np.ones((1, 3), int), np.ones((1, 2), int), seed=9)
    assert len(seeds) == len(set(seeds)) == 2 + 2 * 3 + 2 * 4  # embeddings, encoder layers, decoder layers
    assert all(rate == 0.25 and seed[0] == 9 for rate, seed in seeds)


def test_the_same_seed_drops_the_same_everywhere():
    torch = pytest.importorskip("torch")
    x = np.ones((4, 5, 6))
    assert (layers.dropout(torch.ones(4, 5, 6), 0.5, (1, 2)).numpy() == layers.dropout(x, 0.5, (1, 2))).all()
    assert layers.dropout(x, 0.5, None) is x
