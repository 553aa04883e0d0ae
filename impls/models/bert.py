"""BERT, the Transformer's encoder over tokens, positions and segments: Devlin et al. (2019), section 3."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from array_api_compat import array_namespace

from attnspec.impls.layers.core import Attention, default_core
from attnspec.impls.layers.embedding import Embedding
from attnspec.impls.layers.encoder import EncoderLayer
from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.linear import Linear
from attnspec.impls.layers.norm import LayerNorm
from attnspec.impls.layers.parameters import Array
from attnspec.impls.models.model import Model, States, keys_of, positions_of


@dataclass(frozen=True)
class BertEmbeddings(Layer):
    """ids (B, n) to (B, n, width): token + segment + position, normalised. Devlin et al., figure 2."""

    vocabulary: int
    width: int
    length: int
    segments: int
    epsilon: float

    LEAST: ClassVar[Mapping[str, int]] = {"segments": 0}

    def parts(self) -> dict[str, Layer]:
        """tokens, positions, segments (unless there are none) and norm."""
        tables = {"tokens": self.vocabulary, "positions": self.length, "segments": self.segments}
        embeddings: dict[str, Layer] = {name: Embedding(rows, self.width) for name, rows in tables.items() if rows}
        return {**embeddings, "norm": LayerNorm(self.width, self.epsilon)}

    def __call__(
        self,
        parameters: Mapping[str, Array],
        ids: Array,
        *,
        segments: Array | None = None,
        positions: Array | None = None,
    ) -> Array:
        """Embed. Segments are 0, and positions count from 0, unless given as (B, n)."""
        part = self.bind(parameters, ids)
        self.want(segments is None or self.segments > 0, "no segments, having no embedding of them", "some")
        x = part["tokens"](ids)
        if self.segments:
            x = x + part["segments"](array_namespace(ids).zeros_like(ids) if segments is None else segments)
        return part["norm"](x + part["positions"](positions_of(ids) if positions is None else positions))


@dataclass(frozen=True)
class Bert(Model):
    """ids (B, n) to states (B, n, width).

    vocabulary: token ids; layers, heads, hidden (of the feed-forward layers): the encoder's; length: the most
    positions; segments: kinds of sentence; pooler: whether there is the dense layer that ``pool`` needs.
    """

    vocabulary: int
    width: int
    layers: int
    heads: int
    hidden: int
    length: int = 512
    segments: int = 2
    activation: str = "gelu"
    epsilon: float = 1e-12
    pooler: bool = True
    attention: Attention = default_core

    NAMES: ClassVar[Mapping[str, str]] = {
        "embeddings.tokens": "embeddings.word_embeddings",
        "embeddings.positions": "embeddings.position_embeddings",
        "embeddings.segments": "embeddings.token_type_embeddings",
        "embeddings.norm": "embeddings.LayerNorm",
        "layers.{}.attention.query": "encoder.layer.{}.attention.self.query",
        "layers.{}.attention.key": "encoder.layer.{}.attention.self.key",
        "layers.{}.attention.value": "encoder.layer.{}.attention.self.value",
        "layers.{}.attention.output": "encoder.layer.{}.attention.output.dense",
        "layers.{}.attention_norm": "encoder.layer.{}.attention.output.LayerNorm",
        "layers.{}.feed_forward.inner": "encoder.layer.{}.intermediate.dense",
        "layers.{}.feed_forward.outer": "encoder.layer.{}.output.dense",
        "layers.{}.feed_forward_norm": "encoder.layer.{}.output.LayerNorm",
        "pooler": "pooler.dense",
    }

    LEAST: ClassVar[Mapping[str, int]] = {"segments": 0}

    @property
    def longest(self) -> int:
        """The most tokens of a sequence."""
        return self.length

    def parts(self) -> dict[str, Layer]:
        """embeddings, layers.0, layers.1, … and pooler."""
        layer = EncoderLayer(
            self.width, self.heads, self.hidden, self.activation, epsilon=self.epsilon, attention=self.attention
        )
        embeddings = BertEmbeddings(self.vocabulary, self.width, self.length, self.segments, self.epsilon)
        pooler: dict[str, Layer] = {"pooler": Linear(self.width, self.width)} if self.pooler else {}
        return {"embeddings": embeddings, **{f"layers.{i}": layer for i in range(self.layers)}, **pooler}

    def states(
        self,
        parameters: Mapping[str, Array],
        ids: Array,
        *,
        mask: Array | None = None,
        segments: Array | None = None,
        positions: Array | None = None,
    ) -> States:
        """The states of ``ids`` (B, n). ValueError for parameters, ids or shapes that do not fit."""
        part = self.bind(parameters, ids)
        self.want_tokens(ids, self.longest, mask, segments=segments, positions=positions)
        states = [part["embeddings"](ids, segments=segments, positions=positions)]
        for i in range(self.layers):
            states.append(part[f"layers.{i}"](states[-1], mask=keys_of(mask)))
        return states
