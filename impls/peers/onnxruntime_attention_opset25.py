"""The operator Attention of ONNX, opset 25, in ONNX Runtime on the CPU, which has no kernel for it.

The function that defines it runs in its place: matrix products, a softmax, and forty smaller nodes.
"""

from typing import Any

from attnspec.impls.peers.shared.onnx_attention import MASK_SHAPE, STANDARD, attend
from attnspec.impls.peers.shared.onnx_cache import decoding, make_cache
from attnspec.impls.peers.shared.onnx_model import Array
from attnspec.impls.peers.shared.onnxruntime_session import operators as kernels
from attnspec.impls.peers.shared.onnxruntime_session import run

__all__ = ["attend_cached", "attention", "kernels", "make_cache"]

ARRAYS = "numpy"
PACKAGES = ("onnx", "onnxruntime")
DTYPES = ("float64", "float32", "float16")
LACKS = {"rank2", "rank3", "zero_size", "mask+bias", "key_lengths+is_causal", "key_lengths+window", "negative_window"}
KNOWN_ISSUES = {
    "nonpositive_scale": "a scale below 0 gives NaN, for query and key are multiplied with its square root; unreported",
    "rejection.mask_shape": "a mask wider than there are keys is cut, and one that ends early hides the keys behind "
    "it, which alone is the standard's; unreported",
    "rejection.key_lengths": "lengths of two axes give an output of five; unreported",
    "masking.nan_bias_shows": "a row whose last bias alone shows a key counts as empty if it is NaN, for ReduceMax "
    "loses it: https://github.com/microsoft/onnxruntime/issues/10514",
}
DOCUMENTATION = {
    "rejection.mask_shape": MASK_SHAPE,
    "rejection.key_lengths": (
        "A vector of integers of shape `(batch_size,)` that indicates the number of valid (i.e., non-padding) tokens "
        "in each sample.",
        STANDARD,
    ),
}
CONVENTIONS = {
    "intermediate_dtype": "at-most-float32",  # the scale and its square root
    "masked_nonfinite": "propagates",
}
KERNEL = "MatMul"


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
