"""The operator GroupQueryAttention of com.microsoft in ONNX Runtime on the CPU, over as many new tokens as there are.

Its widths are multiples of 8: others are filled up with zeros, which change no score, and the scale is given.
Source: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GroupQueryAttention
"""

from typing import Any

import numpy as np

from attnspec.impls.peers.shared.onnx_model import Array, Node, Value, described, given, merged, widened
from attnspec.impls.peers.shared.onnxruntime_cache import attend_cached, make_cache
from attnspec.impls.peers.shared.onnxruntime_session import operators as kernels
from attnspec.impls.peers.shared.onnxruntime_session import run

__all__ = ["attend_cached", "attention", "kernels", "make_cache"]

ARRAYS = "numpy"
PACKAGES = ("onnx", "onnxruntime")
DTYPES = ("float32", "float16")
LACKS = {"rank2", "rank3", "value_dim", "cross", "zero_size", "key_bias", "bias_dtype"}
LOST = "beside a causal mask a row gives 0 if the last key that it sees scores NaN; unreported"
KNOWN_ISSUES = {
    "nonpositive_scale": "a scale of 0 is taken for none, and the default comes; unreported",
    "masking.nan_query_shows": LOST,
    "masking.nan_bias_shows": LOST,
}
DOCUMENTATION = {
    "nonpositive_scale": (
        "Custom scale will be used if specified.",
        "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GroupQueryAttention",
    ),
}
CONVENTIONS = {"layout": "BLHD", "empty_row_bias": "nan", "masked_nonfinite": "propagates"}
KERNEL = "GroupQueryAttention"


def attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    bias: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: Array | None = None,
) -> Any:
    """Attention of query (B, L, Hq, D) over key (B, L, Hkv, D) and value (B, L, Hkv, D): (B, L, Hq, D).

    bias has the inputs' dtype and broadcasts to (B, Hq, L, L); sinks (Hq) are logits. ValueError for other than four
    axes, or a key and a value of different shapes: heads and width are one axis to the operator.
    """
    if not query.ndim == key.ndim == 4 or key.shape != value.shape or query.shape[-1] != key.shape[-1]:
        shapes = f"{query.shape}, {key.shape}, {value.shape}"
        raise ValueError(f"query, key, value: wanted (B, n, H, D), D alike, came {shapes}, in GroupQueryAttention")
    width, scale = query.shape[-1], query.shape[-1] ** -0.5 if scale is None and query.shape[-1] else scale
    query, key, value = (widened(array) for array in (query, key, value))
    if bias is not None:
        bias = bias.reshape((1,) * (4 - bias.ndim) + bias.shape)
    tokens = np.full(len(key), key.shape[1] - 1, np.int32)
    arrays: dict[str, Array | None] = {"query": merged(query), "key": merged(key), "value": merged(value)}
    arrays |= {"past_key": None, "past_value": None}
    arrays |= {"seqlens_k": tokens, "total_sequence_length": np.array(key.shape[1], np.int32)}
    arrays |= {"cos_cache": None, "sin_cache": None, "position_ids": None, "attention_bias": bias, "head_sink": sinks}
    attributes = {"num_heads": query.shape[2], "kv_num_heads": key.shape[2], "causal": int(is_causal)}
    attributes |= {n: number for n, number in (("scale", scale), ("softcap", softcap)) if number is not None}
    kind = query.dtype.name
    outputs = (Value("output", kind, 3), Value("present_key", kind, 4), Value("present_value", kind, 4))
    operator, told = "GroupQueryAttention", tuple(attributes.items())
    node = Node(operator, 23, described(arrays), outputs, told, domain="com.microsoft")
    return run(node, given(arrays))[0].reshape(query.shape)[..., :width]
