"""x_transformers' Attend with flash attention: scaled_dot_product_attention behind checks and masks of its own."""

from typing import Any

from x_transformers.attend import Attend

from attnspec.impls import torch_sdpa
from attnspec.impls.kernels.torch import sdpa_kernels
from attnspec.impls.peers.shared.reasons import ASSERTED

ARRAYS = "torch"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("x-transformers",)
LACKS = {"bias_dtype", "rank2", "rank3", "zero_size", "double_gradient", "forward_gradient"}
BEHIND = "what mask or causality hides gets half of finfo.min, more than a bias of -inf or finfo.min; unreported"
KNOWN_ISSUES = {
    "is_causal+cross": "top-left where queries outnumber keys, bottom-right where keys do: what is left of "
    "https://github.com/lucidrains/x-transformers/issues/187",
    "mask+bias": BEHIND,
    "is_causal+bias": BEHIND,
    "rejection.lengths": torch_sdpa.KNOWN_ISSUES["cpu+rejection.lengths"],
    "rejection.mask_shape": ASSERTED,
    "rejection.mask_dtype": "meets a bare assert or is added; unreported",
    "masking.nan_query_shows": torch_sdpa.KNOWN_ISSUES["masking.nan_query_shows"],
    "masking.nan_bias_shows": torch_sdpa.KNOWN_ISSUES["cpu+masking.nan_bias_shows"],
}
DOCUMENTATION = {key: quoted for key, quoted in torch_sdpa.DOCUMENTATION.items() if key in KNOWN_ISSUES}
CONVENTIONS = {
    "causal_alignment": "bottom-right",
    "gqa_map": "tiled",
    "masked_nonfinite": "propagates",
    "value_range": "sum",
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
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    mask is bool (True attends), bias floating; both broadcast to (B, Hq, L, S).
    Formula: Vaswani et al. 2017, equation 1.
    """
    attend = Attend(causal=is_causal, heads=query.shape[1], scale=scale, flash=True).eval()
    output, _ = attend(query, key, value, mask=_four_axes(mask), attn_bias=_four_axes(bias))
    return output


def _four_axes(array: Any) -> Any:
    """Attend reads two axes of a mask as (B, S)."""
    return None if array is None else array[(None,) * (4 - array.ndim)]


kernels = sdpa_kernels
