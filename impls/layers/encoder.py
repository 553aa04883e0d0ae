"""The Transformer's encoder: self-attention and feed-forward, each with a residual, N times."""

from collections.abc import Mapping
from dataclasses import dataclass

from attnspec.impls.layers.core import Attention, default_core
from attnspec.impls.layers.dropout import Seed, sub
from attnspec.impls.layers.feedforward import FeedForward
from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.multihead import MultiHead
from attnspec.impls.layers.norm import LayerNorm
from attnspec.impls.layers.parameters import Array
from attnspec.impls.layers.residual import residual


@dataclass(frozen=True)
class EncoderLayer(Layer):
    """x (B, n, width) to the same: Vaswani et al. (2017), section 3.1, figure 1 on the left.

    norm_first: LayerNorm before each sub-layer instead of after (pre-norm). With a ``seed`` the call drops out.
    """

    width: int
    heads: int
    hidden: int
    activation: str = "relu"
    norm_first: bool = False
    epsilon: float = 1e-5
    bias: bool = True
    kv_heads: int | None = None
    rotary: str | None = None
    dropout: float = 0.0
    attention: Attention = default_core

    def parts(self) -> dict[str, Layer]:
        """attention, feed_forward, and the LayerNorm of each."""
        return {
            "attention": MultiHead(
                self.width, self.heads, self.kv_heads, bias=self.bias, rotary=self.rotary, attention=self.attention
            ),
            "attention_norm": LayerNorm(self.width, self.epsilon),
            "feed_forward": FeedForward(self.width, self.hidden, self.activation, self.bias, self.dropout),
            "feed_forward_norm": LayerNorm(self.width, self.epsilon),
        }

    def __call__(
        self,
        parameters: Mapping[str, Array],
        x: Array,
        *,
        mask: Array | None = None,
        is_causal: bool = False,
        seed: Seed = None,
    ) -> Array:
        """Apply it. ``mask`` is as of MultiHead, (n, n) or (B, heads, n, n); ValueError for what does not fit."""
        part = self.bind(parameters, x)
        self.want_width(x, self.width)
        x = residual(
            x,
            lambda y: part["attention"](y, mask=mask, is_causal=is_causal),
            part["attention_norm"],
            norm_first=self.norm_first,
            rate=self.dropout,
            seed=sub(seed, 0),
        )
        return residual(
            x,
            lambda y: part["feed_forward"](y, seed=sub(seed, 1)),
            part["feed_forward_norm"],
            norm_first=self.norm_first,
            rate=self.dropout,
            seed=sub(seed, 2),
        )


@dataclass(frozen=True)
class Encoder(Layer):
    """x (B, n, width) to the same: ``count`` applications of ``layer``, each with parameters of its own.

    With pre-norm nothing has normalised the last output: ``final_norm`` adds a LayerNorm after the last layer, as
    Xiong et al. (2020) do. Unless given it is there exactly with pre-norm.
    """

    layer: EncoderLayer
    count: int
    final_norm: bool | None = None

    def parts(self) -> dict[str, Layer]:
        """layers.0, layers.1, …, and norm if there is one."""
        layers: dict[str, Layer] = {f"layers.{i}": self.layer for i in range(self.count)}
        final = self.layer.norm_first if self.final_norm is None else self.final_norm
        return {**layers, "norm": LayerNorm(self.layer.width, self.layer.epsilon)} if final else layers

    def __call__(
        self,
        parameters: Mapping[str, Array],
        x: Array,
        *,
        mask: Array | None = None,
        is_causal: bool = False,
        seed: Seed = None,
    ) -> Array:
        """Apply the layers in turn, all with the same ``mask``."""
        part = self.bind(parameters, x)
        for i in range(self.count):
            x = part[f"layers.{i}"](x, mask=mask, is_causal=is_causal, seed=sub(seed, i))
        return part["norm"](x) if "norm" in part else x
