"""MobileBERT: as deep as BERT large but thin, each layer between two bottlenecks. Sun et al. (2020), section 3."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from array_api_compat import array_namespace

from attnspec.impls.layers.core import Attention, default_core
from attnspec.impls.layers.embedding import Embedding
from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.linear import Linear
from attnspec.impls.layers.parameters import Array
from attnspec.impls.models.mobilebert_layer import MobileBertLayer, NoNorm
from attnspec.impls.models.model import Model, States, keys_of, positions_of

ENCODER = "encoder.layer.{}"


@dataclass(frozen=True)
class MobileBertEmbeddings(Layer):
    """ids (B, n) to (B, n, width): each token embedded with its neighbours, then positions and segments added.

    The tables of tokens are ``embedding`` wide; three neighbours in a row go through one linear map, which is a
    convolution of kernel size 3: Sun et al., section 3.
    """

    vocabulary: int
    embedding: int
    width: int
    length: int
    segments: int

    def parts(self) -> dict[str, Layer]:
        """tokens, widening, positions, segments and norm."""
        return {
            "tokens": Embedding(self.vocabulary, self.embedding),
            "widening": Linear(3 * self.embedding, self.width),
            "positions": Embedding(self.length, self.width),
            "segments": Embedding(self.segments, self.width),
            "norm": NoNorm(self.width),
        }

    def __call__(self, parameters: Mapping[str, Array], ids: Array, *, segments: Array | None = None) -> Array:
        """Embed. Segments are 0 unless given as (B, n)."""
        part, xp = self.bind(parameters, ids), array_namespace(ids)
        token = part["tokens"](ids)  # (B, n, embedding)
        none = xp.zeros_like(token[:, :1, :])
        after, before = xp.concat([token[:, 1:, :], none], axis=1), xp.concat([none, token[:, :-1, :]], axis=1)
        x = part["widening"](xp.concat([after, token, before], axis=2)) + part["positions"](positions_of(ids))
        return part["norm"](x + part["segments"](xp.zeros_like(ids) if segments is None else segments))


@dataclass(frozen=True)
class MobileBert(Model):
    """ids (B, n) to states (B, n, width).

    embedding: width of the tokens' table; inner: width between the bottlenecks; hidden: that of the ``feed_forwards``
    feed-forward layers in each layer.
    """

    vocabulary: int
    width: int
    layers: int
    heads: int
    hidden: int
    embedding: int = 128
    inner: int = 128
    feed_forwards: int = 4
    length: int = 512
    segments: int = 2
    attention: Attention = default_core

    NAMES: ClassVar[Mapping[str, str]] = {
        "embeddings.tokens": "embeddings.word_embeddings",
        "embeddings.positions": "embeddings.position_embeddings",
        "embeddings.segments": "embeddings.token_type_embeddings",
        "embeddings.widening": "embeddings.embedding_transformation",
        "embeddings.norm": "embeddings.LayerNorm",
        "layers.{}.narrowing": f"{ENCODER}.bottleneck.input.dense",
        "layers.{}.narrowing_norm": f"{ENCODER}.bottleneck.input.LayerNorm",
        "layers.{}.shared": f"{ENCODER}.bottleneck.attention.dense",
        "layers.{}.shared_norm": f"{ENCODER}.bottleneck.attention.LayerNorm",
        "layers.{}.query": f"{ENCODER}.attention.self.query",
        "layers.{}.key": f"{ENCODER}.attention.self.key",
        "layers.{}.value": f"{ENCODER}.attention.self.value",
        "layers.{}.output": f"{ENCODER}.attention.output.dense",
        "layers.{}.attention_norm": f"{ENCODER}.attention.output.LayerNorm",
        "layers.{}.feed_forwards.{}.inner": f"{ENCODER}.ffn.{{}}.intermediate.dense",
        "layers.{}.feed_forwards.{}.outer": f"{ENCODER}.ffn.{{}}.output.dense",
        "layers.{}.norms.{}": f"{ENCODER}.ffn.{{}}.output.LayerNorm",
        "layers.{}.feed_forward.inner": f"{ENCODER}.intermediate.dense",
        "layers.{}.feed_forward.outer": f"{ENCODER}.output.dense",
        "layers.{}.feed_forward_norm": f"{ENCODER}.output.LayerNorm",
        "layers.{}.widening": f"{ENCODER}.output.bottleneck.dense",
        "layers.{}.widening_norm": f"{ENCODER}.output.bottleneck.LayerNorm",
        "pooler": "pooler.dense",
    }

    def parts(self) -> dict[str, Layer]:
        """embeddings, layers.0, layers.1, … and pooler."""
        layer = MobileBertLayer(self.width, self.inner, self.heads, self.hidden, self.feed_forwards, self.attention)
        return {
            "embeddings": MobileBertEmbeddings(self.vocabulary, self.embedding, self.width, self.length, self.segments),
            **{f"layers.{i}": layer for i in range(self.layers)},
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
        """The states of ``ids`` (B, n). ValueError for parameters, ids or shapes that do not fit."""
        part = self.bind(parameters, ids)
        self.want_tokens(ids, self.length, mask, segments=segments)
        states = [part["embeddings"](ids, segments=segments)]
        for i in range(self.layers):
            states.append(part[f"layers.{i}"](states[-1], mask=keys_of(mask)))
        return states
