"""The feed-forward layer of the Transformer: linear, activation, linear, for each token by itself."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from array_api_compat import array_namespace

from attnspec.impls.layers.dropout import Seed, dropout, sub, want_rate
from attnspec.impls.layers.gelu import gelu
from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.linear import Linear
from attnspec.impls.layers.parameters import Array


def relu(x: Array) -> Array:
    """max(x, 0), NaN staying NaN."""
    return array_namespace(x).where(x < 0, 0 * x, x)


def gelu_tanh(x: Array) -> Array:
    """The approximation x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))) of GELU: section 2 of the same; GPT-2 has it."""
    return 0.5 * x * (1 + array_namespace(x).tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {"relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh}


@dataclass(frozen=True)
class FeedForward(Layer):
    """x (B, n, width) to the same: activation(x·W₁ᵀ + b₁)·W₂ᵀ + b₂. Vaswani et al. (2017), equation 2."""

    width: int
    hidden: int
    activation: str = "relu"
    bias: bool = True
    dropout: float = 0.0

    def check(self) -> None:
        """ValueError for an unknown activation or a rate of dropout that is none."""
        want_rate("FeedForward", self.dropout)
        self.want(self.activation in ACTIVATIONS, f"an activation of {', '.join(ACTIVATIONS)}", repr(self.activation))

    def parts(self) -> dict[str, Layer]:
        """inner (width to hidden) and outer (hidden to width)."""
        return {
            "inner": Linear(self.width, self.hidden, self.bias),
            "outer": Linear(self.hidden, self.width, self.bias),
        }

    def __call__(self, parameters: Mapping[str, Array], x: Array, *, seed: Seed = None) -> Array:
        """Apply it; with a ``seed``, what is between the maps is dropped at the rate ``dropout``."""
        part = self.bind(parameters, x)
        self.want_width(x, self.width)
        hidden = ACTIVATIONS[self.activation](part["inner"](x))  # (B, n, hidden)
        return part["outer"](dropout(hidden, self.dropout, sub(seed, 0)))  # (B, n, width)
