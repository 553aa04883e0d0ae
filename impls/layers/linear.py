"""The linear map, y = x·Wᵀ + b."""

from collections.abc import Mapping
from dataclasses import dataclass

from attnspec.impls.layers.layer import Draw, Layer
from attnspec.impls.layers.library import affine
from attnspec.impls.layers.parameters import Array, Shape


@dataclass(frozen=True)
class Linear(Layer):
    """x (B, n, inputs) to (B, n, outputs); weight (outputs, inputs), as PyTorch has it, and bias (outputs,)."""

    inputs: int
    outputs: int
    bias: bool = True

    def shapes(self) -> dict[str, Shape]:
        """weight, and bias if there is one."""
        weight = {"weight": (self.outputs, self.inputs)}
        return {**weight, "bias": (self.outputs,)} if self.bias else {**weight}

    def init(self, draw: Draw) -> dict[str, Array]:
        """A random weight; the bias begins at 0."""
        weight = {"weight": draw((self.outputs, self.inputs))}
        return {**weight, "bias": draw.constant((self.outputs,), 0.0)} if self.bias else weight

    def __call__(self, parameters: Mapping[str, Array], x: Array) -> Array:
        """x·Wᵀ + b. ValueError for parameters or widths that do not fit."""
        self.bind(parameters, x)
        self.want_width(x, self.inputs)
        return affine(x, parameters["weight"], parameters["bias"] if self.bias else None)
