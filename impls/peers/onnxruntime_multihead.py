"""The operator MultiHeadAttention of com.microsoft in ONNX Runtime on the CPU.

Source: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MultiHeadAttention
"""

from typing import Any

import numpy as np

from attnspec.impls.peers.shared.onnx_model import Array, Node, Value, described, given, merged
from attnspec.impls.peers.shared.onnxruntime_session import operators as kernels
from attnspec.impls.peers.shared.onnxruntime_session import run

__all__ = ["attention", "kernels"]

ARRAYS = "numpy"
PACKAGES = ("onnx", "onnxruntime")
DTYPES = ("float32",)
LACKS = {
    "rank2",
    "rank3",
    "gqa",
    "zero_size",
    "key_bias",
    "bias_dtype",
    "bias+key_lengths",  # added to one another: a row that both hide together would see what the bias leaves
}
LOWEST = float(np.finfo(np.float32).min)
KNOWN_ISSUES = {
    "lowest_bias+is_causal": "what is masked gets finfo.min, which does not outweigh a visible bias of finfo.min; "
    "unreported",
    "nonpositive_scale": "a scale of 0 is taken for none, and the default comes; unreported",
    "cross+is_causal": "the last query sees the keys behind it too; unreported",
}
OPERATOR = (
    "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MultiHeadAttention"
)
CAUSAL = "unidirectional : int […] Whether every token can only attend to previous tokens.", OPERATOR
DOCUMENTATION = {
    "lowest_bias+is_causal": CAUSAL,
    "nonpositive_scale": ("Custom scale will be used if specified.", OPERATOR),
    "cross+is_causal": CAUSAL,
}
CONVENTIONS = {
    "layout": "BLHD",
    "empty_row": "mean",
    "empty_row_bias": "nan",
    "masked_nonfinite": "propagates",
    "value_range": "sum",
}
KERNEL = "MultiHeadAttention"


def attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    bias: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    key_lengths: Array | None = None,
) -> Any:
    """Attention of query (B, L, H, D) over key (B, S, H, D) and value (B, S, H, Dv): (B, L, H, Dv).

    bias has the inputs' dtype and broadcasts to (B, H, L, S); key_lengths (B) are integers. ValueError for both
    together, for other than four axes, and for heads that differ: heads and width are one axis to the operator.
    """
    if not query.ndim == key.ndim == value.ndim == 4 or not query.shape[2] == key.shape[2] == value.shape[2]:
        shapes = f"{query.shape}, {key.shape}, {value.shape}"
        raise ValueError(f"query, key, value: wanted (B, n, H, D) with H alike, came {shapes}, in MultiHeadAttention")
    if bias is not None and key_lengths is not None:
        raise ValueError("attention_bias: wanted it or key_padding_mask, came both, in MultiHeadAttention")
    arrays: dict[str, Array | None] = {"query": merged(query), "key": merged(key), "value": merged(value)}
    arrays |= {"bias": None, "key_padding_mask": None if key_lengths is None else key_lengths.astype(np.int32)}
    arrays |= {"attention_bias": None if bias is None else bias.reshape((1,) * (4 - bias.ndim) + bias.shape)}
    attributes: dict[str, Any] = {"num_heads": query.shape[2], "unidirectional": int(is_causal)}
    attributes["mask_filter_value"] = LOWEST  # by itself -10000, which scores may well be below
    if scale is not None:
        attributes["scale"] = scale
    outputs = (Value("output", query.dtype.name, 3),)
    node = Node("MultiHeadAttention", 23, described(arrays), outputs, tuple(attributes.items()), domain="com.microsoft")
    return run(node, given(arrays))[0].reshape(*query.shape[:3], value.shape[-1])
