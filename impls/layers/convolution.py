"""A convolution over the sequence, for contrast: it sees its neighbours, wherever it is."""

from collections.abc import Mapping
from dataclasses import dataclass

from array_api_compat import array_namespace, device

from attnspec.impls.layers.layer import Draw, Layer
from attnspec.impls.layers.library import product
from attnspec.impls.layers.parameters import Array, Shape


@dataclass(frozen=True)
class Convolution(Layer):
    """x (B, n, width) to the same: y_i = Σ_j W_j·x_{i+j−r} + b, j from 0 to kernel − 1 = 2r, zeros beyond the ends.

    LeCun et al. (1989), in one dimension. weight (width, width, kernel), as PyTorch has it, and bias (width,). One
    layer sees r tokens either way; k layers see k·r.
    """

    width: int
    kernel: int = 3

    def check(self) -> None:
        """ValueError for an even kernel."""
        self.want(self.kernel % 2 == 1, "an odd kernel", self.kernel)

    def shapes(self) -> dict[str, Shape]:
        """weight (outputs, inputs, kernel) and bias."""
        return {"weight": (self.width, self.width, self.kernel), "bias": (self.width,)}

    def init(self, draw: Draw) -> dict[str, Array]:
        """A random weight; the bias begins at 0."""
        return {
            "weight": draw((self.width, self.width, self.kernel)),
            "bias": draw.constant((self.width,), 0.0),
        }

    def __call__(self, parameters: Mapping[str, Array], x: Array) -> Array:
        """Convolve. ValueError for parameters or widths that do not fit."""
        self.bind(parameters, x)
        self.want_width(x, self.width)
        xp, (batch, length, _) = array_namespace(x), x.shape
        zeros = xp.zeros((batch, self.kernel // 2, self.width), dtype=x.dtype, device=device(x))
        padded = xp.concat([zeros, x, zeros], axis=1)  # (B, n + kernel − 1, width)
        weight = parameters["weight"]
        taps = [product(padded[:, j : j + length, :], weight[:, :, j].T) for j in range(self.kernel)]  # (B, n, width)
        return sum(taps, start=parameters["bias"])
