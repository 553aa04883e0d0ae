"""transformers' sdpa_attention_forward, the attention function that its models choose by default."""

from typing import Any

from transformers.integrations.sdpa_attention import sdpa_attention_forward

from attnspec.impls import torch_sdpa
from attnspec.impls.kernels.torch import sdpa_kernels

ARRAYS = "torch"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("transformers",)
LACKS = {
    "mask+bias",  # there is one argument for both
    "mask+is_causal",  # that is taken to hold causality already
    "bias+is_causal",
    "bias_dtype",
    "rank2",
    "rank3",
    "zero_size",
    "double_gradient",
    "forward_gradient",
}
KNOWN_ISSUES = {
    "is_causal+cross": "a single query sees every key, as in decoding, and several are aligned top-left; by design",
    "is_causal+nonpositive_scale": torch_sdpa.KNOWN_ISSUES["cpu+is_causal+nonpositive_scale"],
    "rejection.lengths": torch_sdpa.KNOWN_ISSUES["cpu+rejection.lengths"],
    "rejection.no_heads": torch_sdpa.KNOWN_ISSUES["rejection.no_heads"],
    "rejection.mask_dtype": "a mask that is not boolean is added; by design",
    "masking.nan_query_shows": torch_sdpa.KNOWN_ISSUES["masking.nan_query_shows"],
    "masking.nan_bias_shows": torch_sdpa.KNOWN_ISSUES["cpu+masking.nan_bias_shows"],
}
DOCUMENTATION = {
    **{key: quoted for key, quoted in torch_sdpa.DOCUMENTATION.items() if key in KNOWN_ISSUES},
    "is_causal+nonpositive_scale": torch_sdpa.DOCUMENTATION["cpu+is_causal+nonpositive_scale"],
}
CONVENTIONS = {"masked_nonfinite": "propagates", "value_range": "sum"}


class Module:
    """What the function reads of a model: how many query heads share a key's, and whether it is in training."""

    training = False

    def __init__(self, groups: int) -> None:
        self.num_key_value_groups = groups


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

    mask is bool (True attends) and bias has the inputs' dtype; both broadcast to (B, Hq, L, S), as attention_mask.
    ValueError for two of mask, bias and is_causal, of which the function would leave one in silence, and for other than
    four axes.
    Formula: Vaswani et al. 2017, equation 1.
    """
    if (mask is not None) + (bias is not None) + is_causal > 1:
        raise ValueError("attention_mask: wanted one of mask, bias and is_causal, came more, in transformers sdpa")
    if not query.ndim == key.ndim == value.ndim == 4:
        raise ValueError(f"query: wanted four axes, came {tuple(query.shape)}, in transformers sdpa")
    given = mask if bias is None else bias
    output, _ = sdpa_attention_forward(
        Module(query.shape[-3] // max(key.shape[-3], 1)),
        query,
        key,
        value,
        None if given is None else given[(None,) * (4 - given.ndim)],
        scaling=scale,
        is_causal=is_causal,
    )
    return output.transpose(1, 2)  # (B, L, Hq, Dv) to (B, Hq, L, Dv)


kernels = sdpa_kernels
