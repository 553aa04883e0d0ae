"""The operator Attention of ONNX, opset 25, read by OpenVINO and run on the CPU.

It is not asked for its weights: those below the smallest normal number come as 0. Each shape has a model of its own,
for with open sizes a result depends on earlier calls: see openvino_onnx_reused.
"""

import functools
from typing import Any

import openvino

from attnspec.impls.peers.shared.onnx_attention import BIAS_IS_ADDED, MASK_SHAPE, STANDARD, attend
from attnspec.impls.peers.shared.onnx_model import Array, Node
from attnspec.impls.peers.shared.openvino_model import Compiled, compiled
from attnspec.impls.peers.shared.openvino_model import operators as kernels

__all__ = ["attention", "kernels"]

ARRAYS = "numpy"
PACKAGES = ("onnx", "openvino")
DTYPES = ("float32", "float16")
LACKS = {
    "rank2",
    "rank3",  # read as (B, L, H·D)
    "gqa",  # some numbers of heads are computed, others break off
    "bias_dtype",
    "mask+bias",  # there is one input for both
    "scale+softcap",
    "key_lengths+is_causal",
    "key_lengths+window",
    "negative_window",
}
KNOWN_ISSUES = {
    "window": "the attributes left_window_size and right_window_size are ignored in silence; unreported",
    "nonpositive_scale": "a scale of 0 is taken for none, and the default comes; unreported",
    "zero_size": "a query and a key of width 0 give what lay in memory before; unreported",
    "masking.nan_query_shows": "beside key_lengths a query of NaN gives 0; unreported",
    "masking.nan_bias_shows": "a bias of NaN gives 0; unreported",
    "masking.nan_value_shows": "beside is_causal a value of NaN gives 0; unreported",
    "rejection.mask_shape": "a mask wider than there are keys is cut; unreported",
}
DOCUMENTATION = {
    "window": (
        "`left_window_size` and `right_window_size` independently restrict the keys visible to each query.",
        STANDARD,
    ),
    "nonpositive_scale": ("Scaling factor applied to $Q*K^T$. Default value is `1/sqrt(head_size)`.", STANDARD),
    "masking.nan_bias_shows": BIAS_IS_ADDED,
    "rejection.mask_shape": MASK_SHAPE,
}
CONVENTIONS = {"masked_nonfinite": "propagates"}


@functools.lru_cache(maxsize=512)
def session(node: Node, shapes: tuple[tuple[str, tuple[int, ...]], ...]) -> Compiled:
    """The node's model for inputs of these shapes, ready to run."""
    model = openvino.Core().read_model(node.model().SerializeToString())
    model.reshape(dict(shapes))
    return compiled(model)


def run(node: Node, arrays: dict[str, Array]) -> list[Array]:
    """The node's outputs."""
    return session(node, tuple((name, array.shape) for name, array in arrays.items()))(arrays)


def attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    mask: Array | None = None,
    bias: Array | None = None,
    is_causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    key_lengths: Array | None = None,
    scale: float | None = None,
    softcap: float | None = None,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    Source: https://onnx.ai/onnx/operators/onnx__Attention.html. Errors: see ``shared.onnx_attention.attend``.
    """
    options: dict[str, Any] = {"mask": mask, "bias": bias, "is_causal": is_causal, "scale": scale, "softcap": softcap}
    options |= {"window": window, "key_lengths": key_lengths}
    return attend(run, 25, query, key, value, **options)
