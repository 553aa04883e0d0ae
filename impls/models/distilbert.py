"""DistilBERT: BERT with half the layers, without segments and pooler. Sanh et al. (2019), section 3."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from attnspec.impls.models.bert import Bert


@dataclass(frozen=True)
class DistilBert(Bert):
    """ids (B, n) to states (B, n, width)."""

    segments: int = 0
    pooler: bool = False

    NAMES: ClassVar[Mapping[str, str]] = {
        "embeddings.tokens": "embeddings.word_embeddings",
        "embeddings.positions": "embeddings.position_embeddings",
        "embeddings.norm": "embeddings.LayerNorm",
        "layers.{}.attention.query": "transformer.layer.{}.attention.q_lin",
        "layers.{}.attention.key": "transformer.layer.{}.attention.k_lin",
        "layers.{}.attention.value": "transformer.layer.{}.attention.v_lin",
        "layers.{}.attention.output": "transformer.layer.{}.attention.out_lin",
        "layers.{}.attention_norm": "transformer.layer.{}.sa_layer_norm",
        "layers.{}.feed_forward.inner": "transformer.layer.{}.ffn.lin1",
        "layers.{}.feed_forward.outer": "transformer.layer.{}.ffn.lin2",
        "layers.{}.feed_forward_norm": "transformer.layer.{}.output_layer_norm",
    }
