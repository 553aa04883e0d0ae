"""The Transformer's decoder: causal self-attention, cross-attention, feed-forward, N times; whole or step by step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from attnspec.impls.layers.core import Attention, default_core
from attnspec.impls.layers.dropout import Seed, sub
from attnspec.impls.layers.feedforward import FeedForward
from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.multihead import KeysValues, MultiHead
from attnspec.impls.layers.norm import LayerNorm
from attnspec.impls.layers.parameters import Array, within
from attnspec.impls.layers.residual import residual

Attend = Callable[[Array], Array]


class Kept(NamedTuple):
    """What a layer keeps between steps: keys and values of the memory, and those of the past tokens."""

    memory: KeysValues
    past: KeysValues | None = None


@dataclass(frozen=True)
class DecoderLayer(Layer):
    """x (B, n, width) and memory (B, S, width) to (B, n, width): Vaswani et al. (2017), section 3.1, figure 1, right.

    norm_first: LayerNorm before each sub-layer instead of after (pre-norm). With a ``seed`` the call drops out.
    """

    width: int
    heads: int
    hidden: int
    activation: str = "relu"
    norm_first: bool = False
    epsilon: float = 1e-5
    bias: bool = True
    dropout: float = 0.0
    attention: Attention = default_core

    def parts(self) -> dict[str, Layer]:
        """attention, cross_attention, feed_forward, and the LayerNorm of each."""
        attention = MultiHead(self.width, self.heads, bias=self.bias, attention=self.attention)
        norm = LayerNorm(self.width, self.epsilon)
        feed_forward = FeedForward(self.width, self.hidden, self.activation, self.bias, self.dropout)
        layers: dict[str, Layer] = {
            "attention": attention,
            "cross_attention": attention,
            "feed_forward": feed_forward,
        }
        return {**layers, **{f"{name}_norm": norm for name in layers}}

    def __call__(
        self,
        parameters: Mapping[str, Array],
        x: Array,
        memory: Array,
        *,
        mask: Array | None = None,
        memory_mask: Array | None = None,
        seed: Seed = None,
    ) -> Array:
        """Apply it; no token sees later ones. mask as of MultiHead, memory_mask (B, heads, n, S) or (n, S)."""
        part = self.bind(parameters, x, memory)

        def attend(y: Array) -> Array:
            return part["attention"](y, mask=mask, is_causal=True)

        def read(y: Array) -> Array:
            return part["cross_attention"](y, source=memory, mask=memory_mask)

        return self._through(part, x, attend, read, seed)

    def keep(self, parameters: Mapping[str, Array], memory: Array) -> Kept:
        """The keys and values of the memory, for ``step``."""
        return Kept(self._attention.keys_values(within(parameters, "cross_attention"), memory))

    def step(
        self, parameters: Mapping[str, Array], x: Array, kept: Kept, *, memory_mask: Array | None = None
    ) -> tuple[Array, Kept]:
        """The next tokens, x (B, n, width), after the past ones; the output, and what to keep for the step after."""
        past: list[KeysValues] = []

        def attend(y: Array) -> Array:
            output, now = self._attention.step(within(parameters, "attention"), y, kept.past)
            past.append(now)
            return output

        def read(y: Array) -> Array:
            return self._attention.attend(within(parameters, "cross_attention"), y, kept.memory, mask=memory_mask)

        output = self._through(self.bind(parameters, x), x, attend, read, None)
        return output, Kept(kept.memory, past[0])

    @cached_property
    def _attention(self) -> MultiHead:
        return MultiHead(self.width, self.heads, bias=self.bias, attention=self.attention)

    def _through(
        self, part: Mapping[str, Callable[..., Any]], x: Array, attend: Attend, read: Attend, seed: Seed
    ) -> Array:
        """The three sub-layers, each with its residual and LayerNorm."""
        self.want_width(x, self.width)

        def feed(y: Array) -> Array:
            return part["feed_forward"](y, seed=sub(seed, 3))

        layers = {"attention": attend, "cross_attention": read, "feed_forward": feed}
        for place, (name, layer) in enumerate(layers.items()):
            norm, own = part[f"{name}_norm"], sub(seed, place)
            x = residual(x, layer, norm, norm_first=self.norm_first, rate=self.dropout, seed=own)
        return x


@dataclass(frozen=True)
class Decoder(Layer):
    """x (B, n, width) and memory (B, S, width) to (B, n, width): ``count`` applications of ``layer``.

    ``final_norm`` adds a LayerNorm after the last layer: exactly with pre-norm, unless given.
    """

    layer: DecoderLayer
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
        memory: Array,
        *,
        mask: Array | None = None,
        memory_mask: Array | None = None,
        seed: Seed = None,
    ) -> Array:
        """Apply the layers in turn, all with the same memory."""
        part = self.bind(parameters, x, memory)
        for i in range(self.count):
            x = part[f"layers.{i}"](x, memory, mask=mask, memory_mask=memory_mask, seed=sub(seed, i))
        return part["norm"](x) if "norm" in part else x

    def keep(self, parameters: Mapping[str, Array], memory: Array) -> tuple[Kept, ...]:
        """What the layers keep of the memory, for ``step``."""
        return tuple(self.layer.keep(within(parameters, f"layers.{i}"), memory) for i in range(self.count))

    def step(
        self, parameters: Mapping[str, Array], x: Array, kept: Sequence[Kept], *, memory_mask: Array | None = None
    ) -> tuple[Array, tuple[Kept, ...]]:
        """The next tokens, x (B, n, width), after the past ones; the output, and what to keep for the step after."""
        part, after = self.bind(parameters, x), []
        self.want(len(kept) == self.count, f"what {self.count} layers keep", f"that of {len(kept)}")
        for i, own in enumerate(kept):
            x, now = self.layer.step(within(parameters, f"layers.{i}"), x, own, memory_mask=memory_mask)
            after.append(now)
        return part["norm"](x) if "norm" in part else x, tuple(after)
