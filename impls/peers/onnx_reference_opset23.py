"""The operator Attention of ONNX, opset 23, in onnx.reference: what the standard's own tests are made with."""

import functools
from typing import Any

from onnx.reference import ReferenceEvaluator

from attnspec.impls.peers.shared.onnx_attention import STANDARD, attend
from attnspec.impls.peers.shared.onnx_cache import decoding, make_cache
from attnspec.impls.peers.shared.onnx_model import Array, Node
from attnspec.impls.peers.shared.onnx_reference import operators as kernels

__all__ = ["attend_cached", "attention", "kernels", "make_cache"]

ARRAYS = "numpy"
PACKAGES = ("onnx",)
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {
    "rank2",
    "rank3",  # read as (B, L, H·D)
    "zero_size",  # no maximum of no keys
    "mask+bias",  # there is one input for both
}
CAUSAL = "the causal mask has as many rows as the mask beside it, so that one row hides all keys but the first; "
KNOWN_ISSUES = {
    "float64+scale": "scale and its square root are float32, whatever the dtype of the inputs; unreported",
    "nonpositive_scale": "a scale below 0 gives NaN, for query and key are multiplied with its square root; unreported",
    "is_causal+key_mask": CAUSAL + "unreported",
    "is_causal+key_bias": CAUSAL + "unreported",
    "rejection.rank": "ranks that are not equal meet a bare assert; unreported",
    "rejection.mask_shape": "a mask that ends early hides the keys behind it, as the standard says since opset 24, and "
    "a fifth axis is kept; unreported",
}
COMPOSED = (
    "The causal frontier is computed independently of the `attn_mask` input and is then composed with it additively",
    f"{STANDARD}#attention-23",
)
DOCUMENTATION = {
    "is_causal+key_mask": COMPOSED,
    "is_causal+key_bias": COMPOSED,
    "rejection.mask_shape": (
        "Attention mask. Shape must be broadcastable to 4D tensor with shape `(batch_size, q_num_heads, "
        "q_sequence_length, total_sequence_length)`",
        f"{STANDARD}#attention-23",
    ),
}
CONVENTIONS = {"masked_nonfinite": "propagates"}
KERNEL = "Attention"


@functools.lru_cache(maxsize=64)
def session(node: Node) -> ReferenceEvaluator:
    """The node's model, ready to run."""
    return ReferenceEvaluator(node.model())


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
    scale: float | None = None,
    softcap: float | None = None,
    return_weights: bool = False,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    Source: https://onnx.ai/onnx/operators/onnx__Attention.html. Errors: see ``shared.onnx_attention.attend``.
    """
    options: dict[str, Any] = {
        "is_causal": is_causal,
        "scale": scale,
        "softcap": softcap,
        "return_weights": return_weights,
    }
    return attend(run, 23, query, key, value, mask=mask, bias=bias, **options)


attend_cached = decoding(run, 23)
