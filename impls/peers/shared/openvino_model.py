"""OpenVINO on the CPU: models compiled once, and what its plugin made of them."""

from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

import openvino
from numpy.typing import NDArray

Array = NDArray[Any]

EXACT = {"INFERENCE_PRECISION_HINT": "f32"}
"""By itself the plugin computes float32 in bfloat16 where the processor has instructions for it."""

SPECIFICATION = (
    "https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sequence/"
    "scaled-dot-product-attention.html"
)
"""Of ScaledDotProductAttention, opset 13."""


class Compiled(NamedTuple):
    """A compiled model."""

    model: Any

    def __call__(self, arrays: dict[str, Array]) -> list[Array]:
        """Its outputs for inputs by name; a request of its own, so that threads may call at once."""
        outputs = self.model.create_infer_request().infer(arrays)
        return [outputs[index].copy() for index in range(len(outputs))]


def compiled(model: Any) -> Compiled:
    """The model on the CPU."""
    return Compiled(openvino.Core().compile_model(model, "CPU", EXACT))


def operators(call: Callable[[], object]) -> set[str]:
    """The types of the nodes in the graphs that the plugin ran during ``call``."""
    ran: list[Any] = []
    run = Compiled.__call__

    def recorded(self: Compiled, arrays: dict[str, Array]) -> list[Array]:
        ran.append(self.model.get_runtime_model())
        return run(self, arrays)

    with mock.patch.object(Compiled, "__call__", recorded):
        call()
    return {str(node.get_rt_info()["layerType"].astype(str)) for graph in ran for node in graph.get_ops()}
