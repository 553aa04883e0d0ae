"""State dicts of the transformers package and of PyTorch's modules, to our parameters and back, bit for bit."""

import pytest

import attnspec.impls.layers as layers
from attnspec.impls.models.bert import Bert
from attnspec.impls.models.pretrained import load_pretrained, to_pretrained
from attnspec.impls.models.sizes import SIZES
from attnspec.impls.models.torch_nn import from_torch_nn, to_torch_nn

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
family = pytest.importorskip("attnspec.parity.transformers_models")

CONFIGURATIONS = {
    "bert-base-uncased": ("Bert", {}),
    "bert-large-uncased": (
        "Bert",
        {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096},
    ),
    "roberta-base": ("Roberta", {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1}),
    "camembert-base": ("Camembert", {"vocab_size": 32005, "max_position_embeddings": 514, "type_vocab_size": 1}),
    "albert-base-v2": (
        "Albert",
        {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072, "embedding_size": 128},
    ),
    "distilbert-base-uncased": ("DistilBert", {}),
    "mobilebert-uncased": ("MobileBert", {}),
    "spanbert-base-cased": ("Bert", {"vocab_size": 28996}),
    "tinybert-4l-312d": (
        "Bert",
        {"hidden_size": 312, "num_hidden_layers": 4, "num_attention_heads": 12, "intermediate_size": 1200},
    ),
    "minilm-l6-h384-uncased": (
        "Bert",
        {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536},
    ),
}
"""What is published with the weights, where it is not the package's default."""


@pytest.mark.parametrize("name", SIZES)
def test_published_sizes_fit(name):
    """Every parameter of the whole model by name and shape, without the memory that it takes."""
    with torch.device("meta"):
        state = family.theirs(*CONFIGURATIONS[name]).state_dict()
    parameters = load_pretrained(SIZES[name], state)
    assert {name: tuple(array.shape) for name, array in parameters.items()} == SIZES[name].shapes()


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("name", family.FAMILY)
def test_a_state_dict_comes_back_bit_for_bit(name):
    kind, sizes, model = family.FAMILY[name]
    state = family.theirs(kind, sizes).state_dict()
    assert same(to_pretrained(model, load_pretrained(model, state)), state)
    inside = {f"bert.{name}": array for name, array in state.items()} | {"cls.bias": torch.zeros(3)}
    parameters = load_pretrained(model, inside, prefix="bert.")
    assert same(to_pretrained(model, parameters, prefix="bert."), {k: v for k, v in inside.items() if k != "cls.bias"})


@pytest.mark.parametrize(
    "module",
    [
        torch.nn.MultiheadAttention(12, 3),
        torch.nn.TransformerEncoderLayer(12, 3, 20),
        torch.nn.TransformerDecoderLayer(12, 3, 20),
        torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(12, 3, 20), 2, torch.nn.LayerNorm(12)),
    ],
    ids=lambda module: type(module).__name__,
)
def test_pytorchs_modules_come_back_bit_for_bit(module):
    state = module.state_dict()
    assert same(to_torch_nn(from_torch_nn(state)), state)


def test_pytorchs_names_are_our_layers():
    state = torch.nn.TransformerDecoderLayer(12, 3, 20).state_dict()
    found = {name: tuple(array.shape) for name, array in from_torch_nn(state).items()}
    assert found == layers.DecoderLayer(12, 3, 20).shapes()


def test_what_pytorch_adds_to_keys_is_refused():
    state = torch.nn.MultiheadAttention(12, 3, add_bias_kv=True).state_dict()
    with pytest.raises(ValueError, match="came bias_k"):
        from_torch_nn(state)


def test_everything_that_is_wrong_is_listed():
    model = Bert(40, 12, 1, 3, 20, 16)
    state = family.theirs("Bert", family.SIZES | {"num_hidden_layers": 1}).state_dict()
    state["embeddings.word_embeddings.weight"] = torch.zeros(39, 12)
    state["extra.weight"] = state.pop("pooler.dense.bias")
    with pytest.raises(ValueError, match=r"missing pooler\.dense\.bias") as error:
        load_pretrained(model, state)
    assert "superfluous extra.weight" in str(error.value)
    assert "embeddings.word_embeddings.weight is (39, 12), wanted (40, 12)" in str(error.value)
    with pytest.raises(ValueError, match="came extra"):
        to_pretrained(model, {"extra": torch.zeros(1)})


def test_buffers_of_old_checkpoints_are_passed_over():
    model = Bert(40, 12, 1, 3, 20, 16)
    state = family.theirs("Bert", family.SIZES | {"num_hidden_layers": 1}).state_dict()
    state["embeddings.position_ids"] = torch.arange(16)[None]
    assert load_pretrained(model, state).keys() == model.shapes().keys()
