"""keras.ops.dot_product_attention on PyTorch, with the kernel that Keras and PyTorch pick."""

from typing import Any

from attnspec.impls import torch_sdpa
from attnspec.impls.kernels.torch import sdpa_kernels
from attnspec.impls.peers.shared import keras as shared
from attnspec.impls.peers.shared import keras_documentation as documented
from attnspec.impls.peers.shared.reasons import MASK_CAST

keras = shared.keras_on("torch")

ARRAYS = "torch"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("keras",)
LACKS = {"bias+mask", "bias+is_causal", "rank2", "rank3", "double_gradient", "forward_gradient", "compile"}
KNOWN_ISSUES = {
    "float64": "the result is float32; unreported",
    "rejection.mask_dtype": MASK_CAST,
    "gradient.oracle": "what is masked is lowered by a finite number: an empty row has gradients; unreported",
    "gradient.empty_rows_finite": "an empty row has gradients; unreported",
    "mask+float16": "what is masked is lowered by 45 850 only, so that a row without visible keys is not their mean; "
    "unreported",
    "masking.nan_query_shows": torch_sdpa.KNOWN_ISSUES["masking.nan_query_shows"],
    "rejection.lengths": torch_sdpa.KNOWN_ISSUES["cpu+rejection.lengths"],
    "rejection.no_heads": torch_sdpa.KNOWN_ISSUES["rejection.no_heads"],
    "masking.nan_bias_shows": torch_sdpa.KNOWN_ISSUES["cpu+masking.nan_bias_shows"],
    "is_causal+nonpositive_scale": "NaN: the CPU flash kernel hides with -inf first and scales after; unreported",
}
DOCUMENTATION = {
    **documented.OPS,
    "rejection.no_heads": documented.NO_HEADS,
    "masking.nan_query_shows": torch_sdpa.DOCUMENTATION["masking.nan_query_shows"],
    "masking.nan_bias_shows": torch_sdpa.DOCUMENTATION["masking.nan_bias_shows"],
    "is_causal+nonpositive_scale": torch_sdpa.DOCUMENTATION["cpu+is_causal+nonpositive_scale"],
}
CONVENTIONS = {
    "layout": "BLHD",
    "empty_row": "mean",
    "empty_row_bias": "zero",
    "value_range": "sum",
    "masked_nonfinite": "propagates",
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
    """Attention of query (B, L, Hq, D) over key (B, S, Hkv, D) and value (B, S, Hkv, Dv): (B, L, Hq, Dv).

    mask is bool (True attends), bias floating; both broadcast to (B, Hq, L, S). ValueError for mask and bias together
    and for other than four axes.
    Formula: Vaswani et al. 2017, equation 1.
    """
    return shared.ops_attention(keras, query, key, value, mask=mask, bias=bias, is_causal=is_causal, scale=scale)


kernels = sdpa_kernels
