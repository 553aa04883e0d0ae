"""The operator Attention of ONNX, opset 25, in onnx.reference. It adds the sliding window."""

from typing import Any

from attnspec.impls.peers.onnx_reference_opset23 import KNOWN_ISSUES, run
from attnspec.impls.peers.onnx_reference_opset24 import DOCUMENTATION
from attnspec.impls.peers.shared.onnx_attention import attend
from attnspec.impls.peers.shared.onnx_cache import decoding, make_cache
from attnspec.impls.peers.shared.onnx_model import Array
from attnspec.impls.peers.shared.onnx_reference import operators as kernels

__all__ = ["DOCUMENTATION", "KNOWN_ISSUES", "attend_cached", "attention", "kernels", "make_cache"]

ARRAYS = "numpy"
PACKAGES = ("onnx",)
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {"rank2", "rank3", "zero_size", "mask+bias", "key_lengths+is_causal", "key_lengths+window", "negative_window"}
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
    window: tuple[int | None, int | None] | None = None,
    key_lengths: Array | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    return_weights: bool = False,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    Source: https://onnx.ai/onnx/operators/onnx__Attention.html. Errors: see ``shared.onnx_attention.attend``.
    """
    options: dict[str, Any] = {"is_causal": is_causal, "scale": scale, "softcap": softcap}
    options |= {"key_lengths": key_lengths, "window": window, "return_weights": return_weights}
    return attend(run, 25, query, key, value, mask=mask, bias=bias, **options)


attend_cached = decoding(run, 25)
