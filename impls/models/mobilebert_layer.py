"""A layer of MobileBERT: narrow in between, with several small feed-forward layers, and no LayerNorm."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from attnspec.impls.layers.checks import want_mask
from attnspec.impls.layers.core import Attention, default_core
from attnspec.impls.layers.feedforward import FeedForward
from attnspec.impls.layers.layer import Draw, Layer
from attnspec.impls.layers.linear import Linear
from attnspec.impls.layers.multihead import merge, split
from attnspec.impls.layers.parameters import Array, Shape


@dataclass(frozen=True)
class NoNorm(Layer):
    """x (B, n, width) to x·weight + bias, what stands for LayerNorm: Sun et al. (2020), section 3.3."""

    width: int

    def shapes(self) -> dict[str, Shape]:
        """weight and bias, one number a feature."""
        return {"weight": (self.width,), "bias": (self.width,)}

    def init(self, draw: Draw) -> dict[str, Array]:
        """Weight 1 and bias 0: at first nothing changes."""
        return {"weight": draw.constant((self.width,), 1.0), "bias": draw.constant((self.width,), 0.0)}

    def __call__(self, parameters: Mapping[str, Array], x: Array) -> Array:
        """Scale and shift."""
        self.bind(parameters, x)
        self.want_width(x, self.width)
        return x * parameters["weight"] + parameters["bias"]


@dataclass(frozen=True)
class MobileBertLayer(Layer):
    """x (B, n, width) to the same, by way of states ``inner`` wide: Sun et al. (2020), figure 1c.

    Queries and keys come from one bottleneck, the residual from another, values from the wide states.
    """

    width: int
    inner: int
    heads: int
    hidden: int
    feed_forwards: int
    attention: Attention = default_core

    def check(self) -> None:
        """ValueError for heads that do not divide the inner width."""
        self.want(self.inner % self.heads == 0, f"heads that divide {self.inner}", self.heads)

    def parts(self) -> dict[str, Layer]:
        """Linear maps between the widths, each with its NoNorm, and the feed-forward layers."""
        narrow, down, norm = Linear(self.inner, self.inner), Linear(self.width, self.inner), NoNorm(self.inner)
        feed_forward = FeedForward(self.inner, self.hidden)
        more = range(self.feed_forwards - 1)
        bottlenecks = {"narrowing": down, "narrowing_norm": norm, "shared": down, "shared_norm": norm}
        attention = {"query": narrow, "key": narrow, "value": down, "output": narrow, "attention_norm": norm}
        stack = {f"feed_forwards.{i}": feed_forward for i in more} | {f"norms.{i}": norm for i in more}
        last = {"feed_forward": feed_forward, "feed_forward_norm": norm}
        widening = {"widening": Linear(self.inner, self.width), "widening_norm": NoNorm(self.width)}
        return {**bottlenecks, **attention, **stack, **last, **widening}

    def __call__(self, parameters: Mapping[str, Array], x: Array, *, mask: Array | None = None) -> Array:
        """Apply it. ``mask`` (n, n) or (B, heads, n, n), where sizes of 1 broadcast."""
        part = self.bind(parameters, x)
        self.want_width(x, self.width)
        want_mask("MobileBertLayer", mask, x, (x.shape[0], self.heads, x.shape[1], x.shape[1]))
        y = part["narrowing_norm"](part["narrowing"](x))  # (B, n, inner)
        y = part["attention_norm"](self._attended(part, x, mask) + y)
        for i in range(self.feed_forwards - 1):
            y = part[f"norms.{i}"](part[f"feed_forwards.{i}"](y) + y)
        y = part["feed_forward_norm"](part["feed_forward"](y) + y)
        return part["widening_norm"](part["widening"](y) + x)

    def _attended(self, part: Mapping[str, Callable[..., Any]], x: Array, mask: Array | None) -> Array:
        shared = part["shared_norm"](part["shared"](x))
        query, key, value = part["query"](shared), part["key"](shared), part["value"](x)
        heads = self.attention(*(split(y, self.heads) for y in (query, key, value)), mask=mask)
        return part["output"](merge(heads))
