"""Bad input to layers and models is one ValueError that says what was wanted and what came, in every array library."""

import math
from collections import Counter

import numpy as np
import pytest

from attnspec.impls import layers
from attnspec.impls.layers.core import core, definition
from attnspec.impls.models import minilm
from attnspec.impls.models.albert import Albert
from attnspec.impls.models.bert import Bert
from attnspec.impls.models.gru import Gru
from attnspec.impls.models.mobilebert import MobileBert
from attnspec.impls.models.roberta import Roberta
from attnspec.layers import load

BERT = Bert(30, 12, 2, 3, 20, length=10)
LAYER = layers.MultiHead(12, 3)
CROSS = layers.DecoderLayer(12, 3, 10)
TRANSFORMER = layers.Transformer(9, 8, 12, 3, 10, 1)
POSITIONS = layers.LearnedPositions(6, 12)
EMBEDDING = layers.Embedding(300, 4)

MADE = [
    (lambda: layers.Linear(0, 3), "Linear: wanted inputs to be an integer of 1 or more, came 0"),
    (lambda: layers.Linear(3, -1), "Linear: wanted outputs to be an integer of 1 or more, came -1"),
    (lambda: layers.Linear(3.0, 1), "Linear: wanted inputs to be an integer of 1 or more, came 3.0"),
    (lambda: layers.Linear(True, 1), "Linear: wanted inputs to be an integer of 1 or more, came True"),
    (lambda: layers.Linear(3, 1, "no"), "Linear: wanted bias to be a bool, came 'no'"),
    (lambda: layers.Embedding(0, 4), "Embedding: wanted count to be an integer of 1 or more, came 0"),
    (lambda: layers.LearnedPositions(-2, 4), "LearnedPositions: wanted length to be an integer of 1 or more"),
    (lambda: layers.LayerNorm(4, -1e-5), "LayerNorm: wanted epsilon to be a finite number of 0 or more, came -1e-05"),
    (lambda: layers.LayerNorm(4, math.nan), "LayerNorm: wanted epsilon to be a finite number of 0 or more, came nan"),
    (lambda: layers.EncoderLayer(12, 3, 10, epsilon=math.inf), "EncoderLayer: wanted epsilon"),
    (lambda: layers.MultiHead(12, 0), "MultiHead: wanted heads to be an integer of 1 or more, came 0"),
    (lambda: layers.MultiHead(12, -3), "MultiHead: wanted heads to be an integer of 1 or more, came -3"),
    (lambda: layers.MultiHead(12, 24), "MultiHead: wanted heads that divide 12, came 24"),
    (lambda: layers.MultiHead(12, 4, 0), "MultiHead: wanted kv_heads to be an integer of 1 or more, came 0"),
    (lambda: layers.MultiHead(12, 4, 8), "MultiHead: wanted kv_heads that divide 4, came 8"),
    (
        lambda: layers.MultiHead(12, 4, rotary="nope"),
        "MultiHead: wanted rotary of interleaved, half-split, came 'nope'",
    ),
    (lambda: layers.MultiHead(12, 4, rotary="half-split"), "MultiHead: wanted an even width of the heads, for rotary"),
    (lambda: layers.MultiHead(12, 3, rotary="half-split", rotary_base=0.0), "MultiHead: wanted a rotary_base above 0"),
    (
        lambda: layers.MultiHead(12, 4, attention="numpy_naive"),
        "MultiHead: wanted attention to be a Callable, came 'nu",
    ),
    (lambda: layers.PerHead(12, 0), "PerHead: wanted heads to be an integer of 1 or more, came 0"),
    (lambda: layers.Convolution(4, -1), "Convolution: wanted kernel to be an integer of 1 or more, came -1"),
    (lambda: layers.FeedForward(4, 8, dropout=1.0), "FeedForward: wanted a rate from 0 to below 1, came 1.0"),
    (lambda: layers.EncoderLayer(12, 3, 10, dropout=math.nan), "EncoderLayer: wanted dropout to be a finite number"),
    (lambda: layers.DecoderLayer(12, 3, 10, dropout=-0.5), "DecoderLayer: wanted dropout to be a finite number"),
    (lambda: layers.Transformer(9, 8, 12, 3, 10, 1, dropout=1), "FeedForward: wanted a rate from 0 to below 1, came 1"),
    (lambda: layers.Encoder(LAYER, 2), "Encoder: wanted layer to be a EncoderLayer, came MultiHead("),
    (lambda: layers.Encoder(layers.EncoderLayer(12, 3, 10), 0), "Encoder: wanted count to be an integer of 1 or more"),
    (lambda: layers.Transformer(9, 8, 12, 3, 10, 0), "Transformer: wanted count to be an integer of 1 or more, came 0"),
    (lambda: layers.Transformer(9, 8, 12, 3, 10, 1, padding=8), "Transformer: wanted padding to be a token of both"),
    (lambda: Bert(0, 12, 2, 3, 20), "Bert: wanted vocabulary to be an integer of 1 or more, came 0"),
    (lambda: Bert(30, 12, 2, 3, 20, segments=-1), "Bert: wanted segments to be an integer of 0 or more, came -1"),
    (lambda: Albert(30, 4, 12, 2, 3, 20, groups=3), "Albert: wanted 2 groups at most, as there are layers, came 3"),
    (lambda: layers.Draw(np.zeros(0, int)), "Draw: wanted an array of floating numbers, came int64 (0,)"),
    (lambda: layers.Draw([0.0]), "Draw: wanted an array of floating numbers, came a list"),
    (lambda: layers.Draw(np.zeros(0), seed=-1), "Draw: wanted a seed of 0 or more, came -1"),
    (lambda: layers.Draw(np.zeros(0), distribution="cauchy"), "Draw: wanted distribution 'normal' or 'uniform', came"),
    (lambda: core("nope"), "core: wanted a module or one of "),
    (lambda: core(math), "core: wanted a module with a function `attention`, came <module 'math'"),
]


@pytest.mark.parametrize(("make", "told"), MADE, ids=[told[:40] for _, told in MADE])
def test_what_cannot_be_made_is_refused(make, told):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        make()
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


class Given:
    """Arrays of one library, and layers called on them with parameters of the same."""

    def __init__(self, name):
        self.library = load(name, None)

    def array(self, values, dtype):
        return self.library.native(np.asarray(values, dtype))

    def x(self, *shape, dtype="float32"):
        return self.array(np.ones(shape), dtype)

    def ids(self, *shape, dtype="int32"):
        return self.array(np.ones(shape), dtype)

    def yes(self, *shape):
        return self.array(np.ones(shape), bool)

    def drawn(self, layer):
        return layer.init(layers.Draw(self.x(0)))

    def call(self, layer, *inputs, **options):
        return layer(self.drawn(layer), *inputs, **options)

    def step(self, batch, past):
        shape = (past, 3, 2, 4)
        return LAYER.step(self.drawn(LAYER), self.x(batch, 1, 12), (self.x(*shape), self.x(*shape)))

    def greedy(self, begin=1, end=2, length=3):
        p = self.drawn(TRANSFORMER)
        return TRANSFORMER.greedy(p, self.ids(2, 4), begin=begin, end=end, length=length)


@pytest.fixture(params=["numpy", "torch", "jax"])
def given(request):
    pytest.importorskip(request.param)
    return Given(request.param)


CALLED = [
    (lambda g: g.call(LAYER, g.x(2, 5, 12), source=g.x(1, 7, 12)), "MultiHead: wanted keys (2, 3, S, 4)"),
    (lambda g: g.call(LAYER, g.x(1, 5, 12), source=g.x(2, 7, 12)), "MultiHead: wanted keys (1, 3, S, 4)"),
    (lambda g: g.call(CROSS, g.x(2, 5, 12), g.x(1, 7, 12)), "MultiHead: wanted keys (2, 3, S, 4)"),
    (lambda g: g.step(2, 1), "MultiHead: wanted keys (2, 3, S, 4)"),
    (lambda g: g.step(1, 2), "MultiHead: wanted keys (1, 3, S, 4)"),
    (lambda g: g.call(LAYER, g.x(2, 5, 12), source=g.x(2, 7, 11)), "MultiHead: wanted source (B, n, 12)"),
    (lambda g: g.call(LAYER, g.x(2, 5, 12), mask=g.yes(2, 5)), "MultiHead: wanted a boolean mask (n, S) or"),
    (lambda g: g.call(LAYER, g.x(2, 5, 12), mask=g.yes(2, 5, 5)), "MultiHead: wanted a boolean mask"),
    (lambda g: g.call(LAYER, g.x(3, 5, 12), mask=g.yes(3, 5, 5)), "MultiHead: wanted a boolean mask"),
    (lambda g: g.call(LAYER, g.x(1, 5, 12), mask=g.yes(2, 1, 1, 5)), "MultiHead: wanted a boolean mask"),
    (lambda g: g.call(LAYER, g.x(2, 5, 12), mask=g.x(5, 5)), "MultiHead: wanted a boolean mask"),
    (lambda g: g.call(LAYER, g.x(2, 5, 12), mask=g.ids(5, 5)), "MultiHead: wanted a boolean mask"),
    (lambda g: g.call(LAYER, g.x(2, 5, 12), mask=[[True]]), "MultiHead: wanted a boolean mask"),
    (lambda g: g.call(layers.SelfAttention(12), g.x(2, 5, 12), mask=g.yes(2, 5)), "SelfAttention: wanted a boolean"),
    (lambda g: g.call(LAYER, g.x(2, 5, 12), bias=g.x(2, 5)), "MultiHead: wanted a bias (2, 3, 5, 5)"),
    (lambda g: g.call(LAYER, g.ids(2, 5, 12)), "MultiHead: wanted source (B, n, 12) of floating numbers, came"),
    (lambda g: g.call(layers.LayerNorm(12), g.ids(2, 5, 12)), "LayerNorm: wanted x (B, n, 12) of floating numbers"),
    (lambda g: g.call(layers.SinusoidalPositions(12), g.ids(2, 5, 12)), "SinusoidalPositions: wanted x (B, n, 12) of"),
    (lambda g: g.call(layers.LayerNorm(2), [[[1.0, 2.0]]]), "LayerNorm: wanted an array, came a list (input 0)"),
    (lambda g: layers.LayerNorm(2)([1, 2], g.x(1, 1, 2)), "LayerNorm: wanted a dict of parameters, came a list"),
    (lambda g: layers.LayerNorm(2)({"weight": [1.0, 1.0]}, g.x(1, 1, 2)), "LayerNorm: wanted an array, came a list (w"),
    (lambda g: g.call(POSITIONS, g.x(2, 5, 12), offset=-1), "LearnedPositions: wanted an offset of 0 or more, came -1"),
    (
        lambda g: g.call(POSITIONS, g.x(2, 5, 12), offset=2),
        "LearnedPositions: wanted at most 6 positions, as the table",
    ),
    (lambda g: g.call(POSITIONS, g.x(2, 5, 12), offset=0.5), "LearnedPositions: wanted an offset of 0 or more"),
    (lambda g: g.call(EMBEDDING, g.x(2, 5)), "Embedding: wanted integers as token ids, came"),
    (lambda g: g.call(EMBEDDING, g.yes(2, 5)), "Embedding: wanted integers as token ids, came"),
    (lambda g: g.call(EMBEDDING, g.array([[-1]], "int8")), "Embedding: wanted token ids from 0 to 299"),
    (lambda g: layers.rotary_embedding(g.x(1, 1, 2, 3), layout="half-split"), "rotary_embedding: wanted x (B, heads"),
    (lambda g: layers.rotary_embedding(g.ids(1, 1, 2, 4)), "rotary_embedding: wanted x (B, heads, n, d) of floating"),
    (lambda g: layers.padding_mask(g.array([3, -1], "int32"), 5), "padding_mask: wanted lengths from 0 to 5, came"),
    (lambda g: layers.padding_mask(g.array([3, 6], "int32"), 5), "padding_mask: wanted lengths from 0 to 5, came"),
    (lambda g: layers.padding_mask(g.x(2), 5), "padding_mask: wanted lengths (B,) of integers, came"),
    (lambda g: layers.padding_mask([3, 5], 5), "padding_mask: wanted lengths (B,) of integers, came a list"),
    (lambda g: layers.padding_mask_of_ids(g.x(2, 3), 0), "padding_mask_of_ids: wanted ids (B, n) of integers, came"),
    (lambda g: layers.causal_mask(-1, g.x(0)), "causal_mask: wanted a length of 0 or more, came -1"),
    (lambda g: layers.truncate([[1, 2]], 1), "truncate: wanted ids (B, n), came a list"),
    (lambda g: layers.dropout(g.x(2, 3), 0.5, -1), "dropout: wanted a seed of 0 or more, or a tuple of such, came -1"),
    (lambda g: layers.dropout(g.ids(2, 3), 0.5, 1), "dropout: wanted x of floating numbers, came"),
    (lambda g: g.greedy(length=-1), "Transformer: wanted a length of 0 or more, came -1"),
    (lambda g: g.greedy(begin=8), "Transformer: wanted begin to be a token from 0 to 7, came 8"),
    (lambda g: g.greedy(end=-1), "Transformer: wanted end to be a token from 0 to 7, came -1"),
    (lambda g: g.call(BERT, g.ids(2, 5), mask=g.yes(1, 5)), "Bert: wanted mask (2, 5), as the ids, boolean, came"),
    (lambda g: g.call(BERT, g.ids(2, 5), mask=g.ids(2, 5)), "Bert: wanted mask (2, 5), as the ids, boolean, came"),
    (
        lambda g: g.call(BERT, g.ids(2, 5), segments=g.ids(1, 5)),
        "Bert: wanted segments (2, 5), as the ids, of integers",
    ),
    (
        lambda g: g.call(BERT, g.ids(2, 5), segments=g.ids(2, 1)),
        "Bert: wanted segments (2, 5), as the ids, of integers",
    ),
    (lambda g: g.call(BERT, g.ids(2, 5), positions=g.ids(5)), "Bert: wanted positions (2, 5), as the ids, of integers"),
    (lambda g: g.call(BERT, g.x(2, 5)), "Bert: wanted ids (B, n) of integers, came"),
    (lambda g: g.call(BERT, g.ids(2, 11)), "Bert: wanted ids (B, n), n ≤ 10, came (2, 11)"),
    (
        lambda g: g.call(Roberta(30, 12, 1, 3, 20, length=10), g.ids(2, 9)),
        "Roberta: wanted ids (B, n), n ≤ 8, came (2, 9)",
    ),
    (lambda g: BERT.pool(g.drawn(BERT), g.x(2, 0, 12)), "Bert: wanted a state (B, n, width), n ≥ 1, came (2, 0, 12)"),
]


@pytest.mark.parametrize("place", range(len(CALLED)), ids=[f"{i}-{told[:40]}" for i, (_, told) in enumerate(CALLED)])
def test_what_cannot_be_called_is_refused(given, place):
    call, told = CALLED[place]
    with pytest.raises(ValueError) as error:  # noqa: PT011
        call(given)
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


def test_another_library_beside_is_refused():
    torch = pytest.importorskip("torch")
    g = Given("numpy")
    for mask in (torch.ones(5, 5, dtype=torch.bool), torch.ones(1, 1, 1, 5, dtype=torch.bool)):
        with pytest.raises(ValueError, match=r"MultiHead: wanted one array library, came .*numpy"):
            g.call(LAYER, g.x(2, 5, 12), mask=mask)
    with pytest.raises(ValueError, match="Embedding: wanted one array library, came"):
        g.call(EMBEDDING, torch.ones((2, 5), dtype=torch.int64))


def test_a_decoder_wants_what_all_its_layers_keep():
    g, decoder = Given("numpy"), layers.Decoder(CROSS, 2)
    p = g.drawn(decoder)
    kept = decoder.keep(p, g.x(2, 3, 12))
    with pytest.raises(ValueError, match="Decoder: wanted what 2 layers keep, came that of 1"):
        decoder.step(p, g.x(2, 1, 12), kept[:1])


SMALL = (layers.Linear(12, 12), layers.LayerNorm(12), layers.SelfAttention(12), layers.PerHead(12, 3))
STACKS = (layers.EncoderLayer(12, 3, 10), layers.Recurrent(12), layers.Convolution(12), Gru(12, 12), POSITIONS)


@pytest.mark.parametrize("shape", [(0, 3, 12), (2, 0, 12), (0, 0, 12)])
@pytest.mark.parametrize(
    "layer", [*SMALL, *STACKS, layers.MultiHead(12, 3, rotary="half-split")], ids=lambda each: type(each).__name__
)
def test_nothing_gives_nothing(given, layer, shape):
    assert tuple(given.call(layer, given.x(*shape)).shape) == shape


@pytest.mark.parametrize(("batch", "n", "source"), [(2, 3, 0), (0, 3, 4), (2, 0, 4), (2, 0, 0)])
def test_a_source_of_nothing_adds_the_bias_alone(given, batch, n, source):
    """What queries read of no key is 0, the empty sum, so that the output's bias is left."""
    p = {**given.drawn(LAYER), "output.bias": given.x(12)}
    came = LAYER(p, given.x(batch, n, 12), source=given.x(batch, source, 12))
    assert tuple(came.shape) == (batch, n, 12)
    if source == 0:
        assert (given.library.back(came) == 1).all()


def test_the_definition_reads_nothing_of_no_key():
    query, nothing = np.ones((2, 3, 4, 5)), np.ones((2, 3, 0, 5))
    assert (definition(query, nothing, nothing, mask=np.ones((4, 0), bool)) == np.zeros((2, 3, 4, 5))).all()


@pytest.mark.parametrize(("batch", "n", "source"), [(0, 3, 4), (2, 0, 4), (2, 3, 0)])
def test_a_transformer_takes_nothing(given, batch, n, source):
    came = given.call(TRANSFORMER, given.ids(batch, source), given.ids(batch, n))
    assert tuple(came.shape) == (batch, n, 8)
    begun = TRANSFORMER.greedy(given.drawn(TRANSFORMER), given.ids(batch, source), begin=1, end=2, length=2)
    assert tuple(begun.shape) == (batch, 3)


@pytest.mark.parametrize(
    "model", [BERT, MobileBert(30, 12, 1, 3, 20, inner=12, length=10)], ids=lambda each: type(each).__name__
)
@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_a_model_takes_nothing(given, model, shape):
    assert tuple(given.call(model, given.ids(*shape)).shape) == (*shape, 12)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "int32", "int64"])
def test_ids_of_any_integers_are_taken(given, dtype):
    if dtype == "int64" and given.library.name == "jax":
        pytest.skip("JAX takes it for int32 unless told otherwise")
    rows = given.array(np.arange(1200).reshape(300, 4), "float32")
    came = EMBEDDING({"weight": rows}, given.array([[0, 100]], dtype))
    assert given.library.back(came).tolist() == [[[0, 1, 2, 3], [400, 401, 402, 403]]]


def test_masks_of_two_and_four_axes_are_one_mask(given):
    """Two axes are queries and keys, whatever the batch."""
    rng = np.random.default_rng(0)
    x, mask = given.array(rng.standard_normal((5, 5, 12)), "float32"), rng.random((5, 5)) < 0.5
    mask |= np.eye(5, dtype=bool)
    two, four = (given.library.back(given.call(LAYER, x, mask=given.array(m, bool))) for m in (mask, mask[None, None]))
    assert (two == four).all()


def test_parts_are_made_once():
    counts = Counter()

    class Counting(layers.EncoderLayer):
        def parts(self):
            counts["parts"] += 1
            return super().parts()

    g = Given("numpy")
    layer = Counting(12, 3, 10)
    p = g.drawn(layer)
    for _ in range(3):
        layer(p, g.x(1, 2, 12))
    assert counts["parts"] == 1


@pytest.mark.parametrize(
    ("sentences", "longest", "told"),
    [
        ([], 256, "token_ids: wanted sentences, came none"),
        (None, 256, "token_ids: wanted a list of sentences, came None"),
        ("a sentence", 256, "token_ids: wanted a list of sentences, came 'a sentence'"),
        (["a", 5], 256, "token_ids: wanted sentences, each a str, came 5"),
        (["a", None], 256, "token_ids: wanted sentences, each a str, came None"),
        (["a"], 2, "token_ids: wanted a longest from 3 to 512, came 2"),
        (["a"], 513, "token_ids: wanted a longest from 3 to 512, came 513"),
    ],
)
def test_what_is_no_list_of_sentences_is_refused(sentences, longest, told):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        minilm.token_ids(sentences, longest)
    assert str(error.value) == told


def test_a_mean_of_padding_alone_is_refused():
    with pytest.raises(ValueError, match="unit_mean: wanted a token in every sequence, came a sequence without"):
        minilm.unit_mean(np.ones((2, 3, 4)), np.array([[True, True, False], [False, False, False]]))
    with pytest.raises(ValueError, match=r"unit_mean: wanted a boolean mask \(2, 3\), came bool \(1, 3\)"):
        minilm.unit_mean(np.ones((2, 3, 4)), np.ones((1, 3), bool))
