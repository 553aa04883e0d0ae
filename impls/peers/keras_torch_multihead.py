"""keras.layers.MultiHeadAttention on PyTorch, its projections being the identity.

It is called without its weights: keras.ops.dot_product_attention.
"""

from typing import Any

from attnspec.impls import torch_sdpa
from attnspec.impls.kernels.torch import sdpa_kernels
from attnspec.impls.peers.shared import keras as shared
from attnspec.impls.peers.shared import keras_documentation as documented
from attnspec.impls.peers.shared.reasons import JOINED, MASK_CAST

keras = shared.keras_on("torch")

ARRAYS = "torch"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("keras",)
LACKS = {"gqa", "rank2", "rank3", "zero_size", "compile", "double_gradient", "forward_gradient"}
KNOWN_ISSUES = {
    "rejection.mask_dtype": MASK_CAST,
    "masking.nan_value_shows": JOINED,
    "masking.nan_query_shows": torch_sdpa.KNOWN_ISSUES["masking.nan_query_shows"],
    "gradient.oracle": "what is masked is lowered by a finite number: an empty row has gradients; unreported",
    "gradient.empty_rows_finite": "an empty row has gradients; unreported",
    "mask+float16": "what is masked is lowered by 45 850 only, so that a row without visible keys is not their mean; "
    "unreported",
}
DOCUMENTATION = {
    **documented.MULTIHEAD,
    "masking.nan_query_shows": torch_sdpa.DOCUMENTATION["masking.nan_query_shows"],
}
CONVENTIONS = {
    "layout": "BLHD",
    "empty_row": "mean",
    "intermediate_dtype": "at-most-float32",
    "masked_nonfinite": "propagates",
    "value_range": "sum",
}


def attention(query: Any, key: Any, value: Any, *, mask: Any = None, is_causal: bool = False) -> Any:
    """Attention of query (B, L, H, D) over key (B, S, H, D) and value (B, S, H, Dv): (B, L, H, Dv).

    mask is bool (True attends) and broadcasts to (B, H, L, S).
    ValueError or IndexError for other than four axes.
    Formula: Vaswani et al. 2017, equation 1.
    """
    return shared.multihead_attention(keras, query, key, value, mask=mask, is_causal=is_causal)


kernels = sdpa_kernels
