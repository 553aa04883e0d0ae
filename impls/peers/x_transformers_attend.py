"""x_transformers' Attend: products and a softmax in float32."""

from typing import Any

from x_transformers.attend import Attend

from attnspec.impls.peers.shared.reasons import ONE_KEY_REPEATED
from attnspec.impls.peers.shared.torch_amx import LEAK, LEAKS

ARRAYS = "torch"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("x-transformers",)
LACKS = {"bias_dtype", "rank2", "rank3", "zero_size"}
KNOWN_ISSUES = {
    "is_causal+cross": "a row that causality leaves without keys is their mean, though 0 under a mask; unreported",
    "is_causal+mask": "a row that only both together leave without keys is their mean; unreported",
    "softcap+bias": "the cap comes after the bias, so that -inf hides nothing; unreported",
    "return_weights+mask": "weights of a row without visible keys are those of a mean whose output is 0; unreported",
    "lowest_bias+mask": "what is masked gets finfo.min, like a visible bias of it; unreported",
    "lowest_bias+is_causal": "what is hidden gets finfo.min, like a visible bias of it; unreported",
    "mask+float64+gradient": "what is masked gets finfo.min, -inf in the softmax's float32: gradients of an empty row "
    "are NaN; unreported",
    "rejection.lengths": ONE_KEY_REPEATED,
    **({"masking.nan_query_shows": LEAK} if LEAKS else {}),
}
CONVENTIONS = {
    "causal_alignment": "bottom-right",
    "empty_row_bias": "nan",
    "gqa_map": "tiled",
    "intermediate_dtype": "at-most-float32",
    "masked_nonfinite": "propagates",
    "softcap_order": "after-bias",
}


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    bias: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    return_weights: bool = False,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    mask is bool (True attends), bias floating; both broadcast to (B, Hq, L, S).
    Formula: Vaswani et al. 2017, equation 1.
    """
    attend = Attend(
        causal=is_causal,
        heads=query.shape[1],
        scale=scale,
        flash=False,
        softclamp_logits=bool(softcap),
        logit_softclamp_value=softcap or 1.0,
    ).eval()
    output, intermediates = attend(query, key, value, mask=_four_axes(mask), attn_bias=_four_axes(bias))
    return (output, intermediates.post_softmax_attn) if return_weights else output


def _four_axes(array: Any) -> Any:
    """Attend reads two axes of a mask as (B, S)."""
    return None if array is None else array[(None,) * (4 - array.ndim)]
