"""ALBERT: BERT with a factorised embedding, and layers that share their parameters. Lan et al. (2020), section 3.1."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from attnspec.impls.layers.core import Attention, default_core
from attnspec.impls.layers.encoder import EncoderLayer
from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.linear import Linear
from attnspec.impls.layers.parameters import Array
from attnspec.impls.models.bert import BertEmbeddings
from attnspec.impls.models.model import Model, States, keys_of

GROUP = "encoder.albert_layer_groups.{}.albert_layers.{}"


@dataclass(frozen=True)
class Albert(Model):
    """ids (B, n) to states (B, n, width).

    embedding: the width of the tables, E in the paper, brought to ``width`` (H) by a linear map. The layers are split
    evenly into ``groups``, and those of a group have the same parameters; each is ``inner`` encoder layers in turn.
    """

    vocabulary: int
    embedding: int
    width: int
    layers: int
    heads: int
    hidden: int
    groups: int = 1
    inner: int = 1
    length: int = 512
    segments: int = 2
    activation: str = "gelu_tanh"
    epsilon: float = 1e-12
    attention: Attention = default_core

    NAMES: ClassVar[Mapping[str, str]] = {
        "embeddings.tokens": "embeddings.word_embeddings",
        "embeddings.positions": "embeddings.position_embeddings",
        "embeddings.segments": "embeddings.token_type_embeddings",
        "embeddings.norm": "embeddings.LayerNorm",
        "widening": "encoder.embedding_hidden_mapping_in",
        "groups.{}.{}.attention.query": f"{GROUP}.attention.query",
        "groups.{}.{}.attention.key": f"{GROUP}.attention.key",
        "groups.{}.{}.attention.value": f"{GROUP}.attention.value",
        "groups.{}.{}.attention.output": f"{GROUP}.attention.dense",
        "groups.{}.{}.attention_norm": f"{GROUP}.attention.LayerNorm",
        "groups.{}.{}.feed_forward.inner": f"{GROUP}.ffn",
        "groups.{}.{}.feed_forward.outer": f"{GROUP}.ffn_output",
        "groups.{}.{}.feed_forward_norm": f"{GROUP}.full_layer_layer_norm",
        "pooler": "pooler",
    }

    LEAST: ClassVar[Mapping[str, int]] = {"segments": 0}

    def check(self) -> None:
        """ValueError for more groups than layers."""
        self.want(self.groups <= self.layers, f"{self.layers} groups at most, as there are layers", self.groups)

    def parts(self) -> dict[str, Layer]:
        """embeddings, widening, groups.0.0, groups.0.1, … and pooler."""
        layer = EncoderLayer(
            self.width, self.heads, self.hidden, self.activation, epsilon=self.epsilon, attention=self.attention
        )
        return {
            "embeddings": BertEmbeddings(self.vocabulary, self.embedding, self.length, self.segments, self.epsilon),
            "widening": Linear(self.embedding, self.width),
            **{f"groups.{group}.{i}": layer for group in range(self.groups) for i in range(self.inner)},
            "pooler": Linear(self.width, self.width),
        }

    def states(
        self,
        parameters: Mapping[str, Array],
        ids: Array,
        *,
        mask: Array | None = None,
        segments: Array | None = None,
    ) -> States:
        """The states of ``ids`` (B, n), the first being the widened embedding."""
        part = self.bind(parameters, ids)
        self.want_tokens(ids, self.length, mask, segments=segments)
        states = [part["widening"](part["embeddings"](ids, segments=segments))]
        for layer in range(self.layers):
            for i in range(self.inner):
                group = part[f"groups.{layer * self.groups // self.layers}.{i}"]
                states.append(group(states[-1], mask=keys_of(mask)))
        return states
