"""A recurrent layer, for contrast: it takes the tokens one after the other."""

from collections.abc import Mapping
from dataclasses import dataclass

from array_api_compat import array_namespace

from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.linear import Linear
from attnspec.impls.layers.parameters import Array


@dataclass(frozen=True)
class Recurrent(Layer):
    """x (B, n, width) to the same: h_t = tanh(W·x_t + U·h_{t−1} + b), h_0 = 0. Elman, Finding Structure in Time (1990).

    Each token needs the one before it, so that n tokens take n steps one after the other.
    """

    width: int

    def parts(self) -> dict[str, Layer]:
        """input, W and b; hidden, U."""
        return {"input": Linear(self.width, self.width), "hidden": Linear(self.width, self.width, bias=False)}

    def __call__(self, parameters: Mapping[str, Array], x: Array) -> Array:
        """Go through the tokens. ValueError for parameters or widths that do not fit."""
        part = self.bind(parameters, x)
        self.want_width(x, self.width)
        xp, inputs = array_namespace(x), part["input"](x)  # (B, n, width)
        states: list[Array] = []
        for t in range(x.shape[1]):
            before = part["hidden"](states[-1]) if states else 0
            states.append(xp.tanh(inputs[:, t : t + 1, :] + before))  # (B, 1, width)
        return xp.concat(states, axis=1) if states else inputs
