"""The operator Attention of ONNX, opset 25, in onnx.reference, with everything in bfloat16: the operator's default."""

from typing import Any

from attnspec.impls.peers.onnx_reference_opset23 import run
from attnspec.impls.peers.onnx_reference_opset25 import LACKS
from attnspec.impls.peers.shared.onnx_attention import attend
from attnspec.impls.peers.shared.onnx_model import Array
from attnspec.impls.peers.shared.onnx_reference import operators as kernels

__all__ = ["LACKS", "attention", "kernels"]

ARRAYS = "numpy"
PACKAGES = ("onnx",)
DTYPES = ("bfloat16",)
STALLS = "the softmax's denominator is summed in bfloat16, and stands still after 256 equal terms; unreported"
KNOWN_ISSUES = {
    "long_rows": STALLS,
    "rejection.rank": "ranks that are not equal meet a bare assert; unreported",
}
CONVENTIONS = {"masked_nonfinite": "propagates"}
KERNEL = "Attention"


def attention(query: Array, key: Array, value: Array) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    Source: https://onnx.ai/onnx/operators/onnx__Attention.html.
    """
    return attend(run, 25, query, key, value, all_in_bfloat16=True)
