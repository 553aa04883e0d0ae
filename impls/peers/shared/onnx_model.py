"""An ONNX model of one node, described by a value that a cache of sessions can be keyed by."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

Array = NDArray[Any]


class Value(NamedTuple):
    """What goes into a node or comes out of it; without a name, what is left out."""

    name: str = ""
    dtype: str = ""
    rank: int = 0


class Node(NamedTuple):
    """One node and the model around it. All sizes are left open, so that one model serves every shape."""

    operator: str
    opset: int
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    attributes: tuple[tuple[str, Any], ...]
    domain: str = ""

    def model(self) -> onnx.ModelProto:
        """The model; an error of onnx.checker's if the standard does not allow its types."""
        inputs, outputs = ([value.name for value in values] for values in (self.inputs, self.outputs))
        node = helper.make_node(self.operator, inputs, outputs, domain=self.domain, **dict(self.attributes))
        graph = helper.make_graph([node], self.operator, _declared(self.inputs), _declared(self.outputs))
        opsets = [helper.make_opsetid("", self.opset)]
        opsets += [helper.make_opsetid(self.domain, 1)] if self.domain else []
        model = helper.make_model(graph, opset_imports=opsets, ir_version=11)
        onnx.checker.check_model(model, full_check=True)
        return model


def _declared(values: tuple[Value, ...]) -> list[onnx.ValueInfoProto]:
    return [
        helper.make_tensor_value_info(
            value.name, helper.np_dtype_to_tensor_dtype(np.dtype(value.dtype)), [None] * value.rank
        )
        for value in values
        if value.name
    ]


def described(arrays: Mapping[str, Array | None]) -> tuple[Value, ...]:
    """The ``inputs`` of a node that is given these arrays in this order; None is an input left out."""
    values = [Value() if array is None else Value(name, array.dtype.name, array.ndim) for name, array in arrays.items()]
    while not values[-1].name:
        values.pop()
    return tuple(values)


def given(arrays: Mapping[str, Array | None]) -> dict[str, Array]:
    """The arrays that are there."""
    return {name: array for name, array in arrays.items() if array is not None}


def merged(array: Array) -> Array:
    """(B, n, H, D) with its heads side by side: (B, n, H·D)."""
    batch, tokens, heads, width = array.shape
    return array.reshape(batch, tokens, heads * width)


def widened(array: Array) -> Array:
    """The array (…, D) with zeros behind its width, up to a multiple of 8."""
    return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, -array.shape[-1] % 8)])
