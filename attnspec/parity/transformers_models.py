"""The models of the ``transformers`` package in small, and ours with the same weights: every state of every layer."""

from collections.abc import Callable
from typing import Any

import numpy as np

from attnspec.impls.models.albert import Albert
from attnspec.impls.models.bert import Bert
from attnspec.impls.models.distilbert import DistilBert
from attnspec.impls.models.mobilebert import MobileBert
from attnspec.impls.models.model import Model
from attnspec.impls.models.pretrained import load_pretrained
from attnspec.impls.models.roberta import Roberta
from attnspec.parity.case import Case, Convert, Numbers, converted
from attnspec.parity.modules import case_of, randomised, tensors, weights

VOCABULARY, LENGTH, WIDTH, HEADS, HIDDEN, LAYERS = 40, 16, 12, 3, 20, 2

SIZES = {
    "vocab_size": VOCABULARY,
    "max_position_embeddings": LENGTH,
    "hidden_size": WIDTH,
    "num_attention_heads": HEADS,
    "intermediate_size": HIDDEN,
    "num_hidden_layers": LAYERS,
}
OURS: dict[str, Any] = {
    "vocabulary": VOCABULARY,
    "length": LENGTH,
    "width": WIDTH,
    "heads": HEADS,
    "hidden": HIDDEN,
    "layers": LAYERS,
}

DISTILLED = {"vocab_size": VOCABULARY, "max_position_embeddings": LENGTH, "dim": WIDTH, "n_heads": HEADS}
DISTILLED |= {"hidden_dim": HIDDEN, "n_layers": LAYERS}

FAMILY: dict[str, tuple[str, dict[str, Any], Model]] = {
    "BERT": ("Bert", SIZES, Bert(**OURS)),
    "SpanBERT": ("Bert", SIZES | {"type_vocab_size": 1}, Bert(**OURS | {"segments": 1})),
    "TinyBERT": ("Bert", SIZES | {"num_hidden_layers": 4}, Bert(**OURS | {"layers": 4})),
    "RoBERTa": ("Roberta", SIZES | {"type_vocab_size": 1, "layer_norm_eps": 1e-5}, Roberta(**OURS)),
    "CamemBERT": ("Camembert", SIZES | {"type_vocab_size": 1, "layer_norm_eps": 1e-5}, Roberta(**OURS)),
    "ALBERT": (
        "Albert",
        SIZES | {"num_hidden_layers": 4, "embedding_size": 6, "num_hidden_groups": 2},
        Albert(**OURS | {"layers": 4, "embedding": 6, "groups": 2}),
    ),
    "DistilBERT": ("DistilBert", DISTILLED, DistilBert(**OURS)),
    "MobileBERT": (
        "MobileBert",
        SIZES | {"embedding_size": 6, "intra_bottleneck_size": 6},
        MobileBert(**OURS | {"embedding": 6, "inner": 6}),
    ),
}
"""By name: the package's class, its configuration, and ours. SpanBERT and TinyBERT have BERT's code there as here."""


def build(name: str) -> Case:
    """The case of one model: token ids with padding, in two kinds of sentence where the model has them."""
    kind, sizes, model = FAMILY[name]
    module, inputs = randomised(theirs(kind, sizes)), token_inputs(model)
    given = {name: tensor.long() for name, tensor in tensors(inputs).items()}
    given["attention_mask"] = given.pop("mask")
    given["input_ids"] = given.pop("ids")
    if "segments" in given:
        given["token_type_ids"] = given.pop("segments")

    def compute() -> list[Any]:
        output = module(**given, output_hidden_states=True)
        return [*output.hidden_states, *([output.pooler_output] if has_pooler(model) else [])]

    return case_of(compute, ours(model, load_pretrained(model, weights(module)), inputs))


def theirs(kind: str, sizes: dict[str, Any]) -> Any:
    """The package's model, attention computed step by step."""
    import transformers

    config = getattr(transformers, f"{kind}Config")(**sizes, attn_implementation="eager")
    return getattr(transformers, f"{kind}Model")(config)


def has_pooler(model: Model) -> bool:
    """Whether the model has the dense layer over the first token."""
    return "pooler" in model.parts()


def token_inputs(model: Model) -> dict[str, Numbers]:
    """ids, mask and, if there is more than one, segments: two sequences, the second with two tokens of padding."""
    padding = getattr(model, "padding", 0)
    ids = np.random.default_rng(1).integers(2, VOCABULARY, (2, 5))
    ids[1, 3:] = padding
    inputs: dict[str, Numbers] = {"ids": ids, "mask": ids != padding}
    if getattr(model, "segments", 0) > 1:
        inputs["segments"] = np.array([[0, 0, 1, 1, 1], [0, 1, 1, 0, 0]])
    return inputs


def ours(model: Model, parameters: dict[str, Numbers], inputs: dict[str, Numbers]) -> Callable[[Convert], list[Any]]:
    """Our states, and what the pooler makes of the last one."""

    def compute(convert: Convert) -> list[Any]:
        native, given = converted(parameters, convert), converted(inputs, convert)
        states = model.states(native, given.pop("ids"), **given)
        return [*states, *([model.pool(native, states[-1])] if has_pooler(model) else [])]

    return compute
