"""Self-attention with its three linear maps, one head, as textbooks begin."""

from collections.abc import Mapping
from dataclasses import dataclass

from attnspec.impls.layers.checks import want_mask
from attnspec.impls.layers.core import Attention, default_core
from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.linear import Linear
from attnspec.impls.layers.parameters import Array


@dataclass(frozen=True)
class SelfAttention(Layer):
    """x (B, n, width) to (B, n, value_width): softmax(QKᵀ/√key_width)·V with Q, K and V linear in x.

    Vaswani et al. (2017), equation 1. The value width is the output's, and may be other than the key width; both are
    ``width`` unless given. ``bias`` is that of the linear maps.
    """

    width: int
    key_width: int | None = None
    value_width: int | None = None
    bias: bool = True
    attention: Attention = default_core

    def parts(self) -> dict[str, Layer]:
        """query and key (width to key_width), value (width to value_width)."""
        key = self.width if self.key_width is None else self.key_width
        value = self.width if self.value_width is None else self.value_width
        return {
            "query": Linear(self.width, key, self.bias),
            "key": Linear(self.width, key, self.bias),
            "value": Linear(self.width, value, self.bias),
        }

    def __call__(
        self, parameters: Mapping[str, Array], x: Array, *, mask: Array | None = None, is_causal: bool = False
    ) -> Array:
        """Attend. ``mask`` (n, n) or (B, 1, n, n), sizes of 1 broadcast; ValueError for what does not fit."""
        part = self.bind(parameters, x)
        self.want_width(x, self.width)
        want_mask("SelfAttention", mask, x, (x.shape[0], 1, x.shape[1], x.shape[1]))
        query, key, value = (part[name](x)[:, None, :, :] for name in ("query", "key", "value"))  # (B, 1, n, …)
        return self.attention(query, key, value, mask=mask, is_causal=is_causal)[:, 0, :, :]
