"""The operator Attention of ONNX, opset 25, in OpenVINO, in a model with open sizes that has answered one key before.

Each call has a new model: one that is kept would make a result depend on what the run before it was about.
"""

from typing import Any

import openvino

from attnspec.impls.peers.shared.onnx_attention import STANDARD, attend
from attnspec.impls.peers.shared.onnx_model import Array, Node
from attnspec.impls.peers.shared.openvino_model import compiled
from attnspec.impls.peers.shared.openvino_model import operators as kernels

__all__ = ["attention", "kernels"]

ARRAYS = "numpy"
PACKAGES = ("onnx", "openvino")
DTYPES = ("float32",)
LACKS = {"rank2", "rank3", "gqa"}
KNOWN_ISSUES = {
    "scale": "a model that has answered a call with one key gives wrong sums for 16 keys and more afterwards; "
    "unreported",
    "zero_size": "a query and a key of width 0, or no keys, give what lay in memory before; unreported",
    "rejection.lengths": "a value that is longer than its key is taken; unreported",
}
DOCUMENTATION = {
    "rejection.lengths": (
        "Key tensor. 4D tensor with shape `(batch_size, kv_num_heads, kv_sequence_length, head_size)` […] "
        "Value tensor. 4D tensor with shape `(batch_size, kv_num_heads, kv_sequence_length, v_head_size)`",
        STANDARD,
    ),
}
CONVENTIONS = {"masked_nonfinite": "propagates"}


def run(node: Node, arrays: dict[str, Array]) -> list[Array]:
    """The node's outputs, from a model that has been called with the first of the keys alone."""
    ready = compiled(openvino.Core().read_model(node.model().SerializeToString()))
    ready(arrays | {name: arrays[name][..., :1, :] for name in ("K", "V")})
    return ready(arrays)


def attention(query: Array, key: Array, value: Array, *, scale: float | None = None) -> Any:
    """Attention of query (B, H, L, D) over key (B, H, S, D) and value (B, H, S, Dv): (B, H, L, Dv).

    Source: https://onnx.ai/onnx/operators/onnx__Attention.html. Errors: see ``shared.onnx_attention.attend``.
    """
    return attend(run, 25, query, key, value, scale=scale)
