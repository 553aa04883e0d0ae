"""torch.nn.functional.scaled_dot_product_attention with the kernel that PyTorch picks for the shape and the device.

On the CPU that is the flash kernel for four axes, equal widths and a mask of two or four axes, else the math kernel.
"""

from typing import Any

import torch
import torch.nn.functional as F

from attnspec.impls.kernels.torch import sdpa_kernels

ARRAYS = "torch"
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {
    "mask+bias",  # there is one argument for both
    "mask+is_causal",  # documented as an error; the math kernel raises it, the flash kernel takes both
    "bias+is_causal",
    "bias_dtype",
    "double_gradient",  # the flash kernel's backward has no derivative
    "forward_gradient",
}
KNOWN_ISSUES = {
    "masking.nan_query_shows": "a query of NaN gives 0 if there are fewer than 16 keys (8 in float64): what is left of "
    "https://github.com/pytorch/pytorch/issues/141128",
    "cpu+masking.nan_bias_shows": "a bias of +inf gives 0 in half precision if there are 16 keys or more; unreported",
    "cpu+rejection.lengths": "the CPU flash kernel takes the number of keys from the value and reads past a shorter "
    "key: https://github.com/pytorch/pytorch/pull/193728",
    "rejection.no_heads": "a key without heads gives zeros for any number of query heads; unreported",
    "cpu+is_causal+nonpositive_scale": "NaN: the CPU flash kernel hides with -inf first and scales after; unreported",
}
PAGE = "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html"
DOCUMENTATION = {
    "masking.nan_query_shows": (
        "Efficient implementation equivalent to the following: […] attn_weight = query @ key.transpose(-2, -1) * "
        "scale_factor […] attn_weight = torch.softmax(attn_weight, dim=-1)",
        PAGE,
    ),
    "masking.nan_bias_shows": (
        "Efficient implementation equivalent to the following: […] attn_bias = attn_mask + attn_bias […] "
        "attn_weight += attn_bias attn_weight = torch.softmax(attn_weight, dim=-1)",
        PAGE,
    ),
    "rejection.lengths": (
        "key (Tensor): Key tensor; shape :math:`(N, ..., H, S, E)`. "
        "value (Tensor): Value tensor; shape :math:`(N, ..., H, S, Ev)`.",
        PAGE,
    ),
    "rejection.no_heads": (
        "Constraints for GQA: - number_of_heads_query % number_of_heads_key_value == 0",
        PAGE,
    ),
    "cpu+is_causal+nonpositive_scale": (
        "Efficient implementation equivalent to the following: […] attn_weight = query @ key.transpose(-2, -1) * "
        "scale_factor attn_weight += attn_bias",
        PAGE,
    ),
}
CONVENTIONS = {
    "masked_nonfinite": "propagates",
    "value_range": "sum",  # the flash kernel normalises last
}  # intermediate_dtype is "input": scores are float32, but weights meet V in half precision


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

    Without B, or B and H, everything is without it. mask is bool (True attends) and bias has the inputs' dtype; both
    broadcast to (B, Hq, L, S). ValueError for mask and bias together and for a mask that is not bool, which PyTorch
    would add; what else is malformed is PyTorch's to find.
    Formula: Vaswani et al. 2017, equation 1; algorithm: Dao, FlashAttention-2, 2023, algorithm 1.
    """
    if mask is not None and bias is not None:
        raise ValueError("attn_mask: wanted mask or bias, came both, in torch scaled_dot_product_attention")
    if mask is not None and mask.dtype != torch.bool:
        raise ValueError(f"attn_mask: wanted a mask of bool, came {mask.dtype}, in torch scaled_dot_product_attention")
    return F.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=mask if bias is None else bias,
        is_causal=is_causal,
        scale=scale,
        enable_gqa=query.shape[:-2] != key.shape[:-2],
    )


kernels = sdpa_kernels
