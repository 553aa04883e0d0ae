"""Layer normalisation: each token's features brought to mean 0 and variance 1, then scaled and shifted."""

from collections.abc import Mapping
from dataclasses import dataclass

from array_api_compat import array_namespace

from attnspec.impls.layers.layer import Draw, Layer
from attnspec.impls.layers.parameters import Array, Shape


@dataclass(frozen=True)
class LayerNorm(Layer):
    """x (B, n, width) to the same: (x − μ)/√(σ² + ε)·weight + bias, μ and σ² over the features of each token.

    Ba, Kiros & Hinton, Layer Normalization (2016), equations 3 and 4. σ² divides by width, not by width − 1.
    """

    width: int
    epsilon: float = 1e-5

    def shapes(self) -> dict[str, Shape]:
        """weight and bias, one number a feature."""
        return {"weight": (self.width,), "bias": (self.width,)}

    def init(self, draw: Draw) -> dict[str, Array]:
        """Weight 1 and bias 0: at first the layer only normalises."""
        return {"weight": draw.constant((self.width,), 1.0), "bias": draw.constant((self.width,), 0.0)}

    def __call__(self, parameters: Mapping[str, Array], x: Array) -> Array:
        """Normalise. ValueError for parameters or widths that do not fit."""
        self.bind(parameters, x)
        self.want_width(x, self.width)
        xp = array_namespace(x)
        centred = x - xp.mean(x, axis=-1, keepdims=True)  # (B, n, width)
        variance = xp.mean(centred * centred, axis=-1, keepdims=True)  # (B, n, 1)
        return centred / xp.sqrt(variance + self.epsilon) * parameters["weight"] + parameters["bias"]
