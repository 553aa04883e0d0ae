"""The function that defines ONNX's operator Attention, opset 25, in its place, in onnx.reference."""

import functools
from typing import Any

from onnx.inliner import inline_selected_functions
from onnx.reference import ReferenceEvaluator

from attnspec.impls.peers.shared.onnx_attention import attend
from attnspec.impls.peers.shared.onnx_model import Array, Node
from attnspec.impls.peers.shared.onnx_reference import operators as kernels

__all__ = ["attention", "kernels"]

ARRAYS = "numpy"
PACKAGES = ("onnx",)
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {"rank2", "rank3", "zero_size", "mask+bias", "negative_window"}
KNOWN_ISSUES = {
    "nonpositive_scale": "a scale below 0 gives NaN, for query and key are multiplied with its square root; unreported",
    "rejection.mask_shape": "a mask that ends early hides the keys behind it, as the standard says; unreported",
}
CONVENTIONS = {
    "intermediate_dtype": "at-most-float32",  # the scale and its square root
    "masked_nonfinite": "propagates",
}
KERNEL = "Softmax"


@functools.lru_cache(maxsize=64)
def session(node: Node) -> ReferenceEvaluator:
    """The node's model with the node written out, ready to run.

    onnx's inliner breaks off where an optional input is left out before one that is given, which key_lengths and a
    cache would need.
    """
    named = [("", node.operator)]
    return ReferenceEvaluator(inline_selected_functions(node.model(), named, inline_schema_functions=True))


def run(node: Node, arrays: dict[str, Array]) -> Any:
    """The node's outputs."""
    return session(node).run(None, arrays)


def attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    mask: Array | None = None,
    bias: Array | None = None,
    is_causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    return_weights: bool = False,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    Source: https://onnx.ai/onnx/operators/onnx__Attention.html. Errors: see ``shared.onnx_attention.attend``.
    """
    options: dict[str, Any] = {"is_causal": is_causal, "scale": scale, "softcap": softcap}
    options |= {"window": window, "return_weights": return_weights}
    return attend(run, 25, query, key, value, mask=mask, bias=bias, **options)
