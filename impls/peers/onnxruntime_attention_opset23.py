"""The operator Attention of ONNX, opset 23, in ONNX Runtime on the CPU: its own kernel, in float32 and float16."""

from typing import Any

from attnspec.impls.peers.shared.onnx_attention import BIAS_IS_ADDED, attend
from attnspec.impls.peers.shared.onnx_cache import decoding, make_cache
from attnspec.impls.peers.shared.onnx_model import Array
from attnspec.impls.peers.shared.onnxruntime_session import operators as kernels
from attnspec.impls.peers.shared.onnxruntime_session import run

__all__ = ["attend_cached", "attention", "kernels", "make_cache"]

ARRAYS = "numpy"
PACKAGES = ("onnx", "onnxruntime")
DTYPES = ("float32", "float16")
LACKS = {
    "rank2",
    "rank3",  # read as (B, L, H·D)
    "zero_size",
    "mask+bias",  # there is one input for both
    "key_mask",  # the standard says that masks broadcast; ONNX Runtime wants a row for each query
    "key_bias",
    "nonpositive_scale",
}
KNOWN_ISSUES = {
    "masking.nan_query_shows": "a row whose biases are all finfo.min counts as one without keys: its output is 0, "
    "whatever the query; unreported",
}
DOCUMENTATION = {"masking.nan_query_shows": BIAS_IS_ADDED}
CONVENTIONS = {"masked_nonfinite": "propagates"}
KERNEL = "Attention"


def attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    mask: Array | None = None,
    bias: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    return_weights: bool = False,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    Source: https://onnx.ai/onnx/operators/onnx__Attention.html. Errors: see ``shared.onnx_attention.attend``.
    """
    options: dict[str, Any] = {"is_causal": is_causal, "scale": scale, "softcap": softcap}
    options |= {"return_weights": return_weights}
    return attend(run, 23, query, key, value, mask=mask, bias=bias, **options)


attend_cached = decoding(run, 23)
