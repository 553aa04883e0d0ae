"""flax.linen.dot_product_attention: products and a softmax in the inputs' dtype."""

from typing import Any

import jax
from flax import linen

ARRAYS = "jax"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("flax",)
LACKS = {"gqa", "rank2"}
ASSERTED = "shapes that do not fit meet a bare assert, which python -O leaves out; unreported"
KNOWN_ISSUES = {
    **dict.fromkeys(
        (f"rejection.{what}" for what in ("lengths", "width", "heads", "no_heads", "batch", "rank")), ASSERTED
    ),
    "rejection.mask_shape": "a mask with an axis in front gives an output with that axis; unreported",
    "rejection.mask_dtype": "a mask of 0 and -inf is read as booleans, which shows what it should hide; unreported",
    "lowest_bias+mask": "what is masked gets finfo.min, which is no less than a visible bias of finfo.min; unreported",
    "rejection.dropout_rate": "a rate below 0 is taken for 0, one of 1 gives NaN and one above gives 0; unreported",
}
PAGE = "https://flax-linen.readthedocs.io/en/latest/api_reference/flax.linen/layers.html"
DOCUMENTATION = {
    "rejection.mask_shape": (
        "mask: mask for the attention weights. This should be broadcastable to the shape ``[batch..., num_heads, "
        "q_length, kv_length]``.",
        PAGE,
    ),
    "lowest_bias+mask": (
        "Attention weights are masked out if their corresponding mask value is ``False``.",
        PAGE,
    ),
}
CONVENTIONS = {"layout": "BLHD", "empty_row": "mean", "empty_row_bias": "nan", "masked_nonfinite": "propagates"}


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    bias: Any = None,
    dropout_rate: float = 0.0,
    seed: int = 0,
) -> Any:
    """Attention of query (B, L, H, D) over key (B, S, H, D) and value (B, S, H, Dv): (B, L, H, Dv), or all without B.

    mask is bool (True attends), bias floating; both broadcast to (B, H, L, S). Of the weights, dropout_rate are left
    out, others in each batch and head; seed says which. AssertionError for shapes that do not fit.
    Formula: Vaswani et al. 2017, equation 1.
    """
    return linen.dot_product_attention(
        query,
        key,
        value,
        bias,
        mask,
        broadcast_dropout=False,
        dropout_rng=jax.random.key(seed),
        dropout_rate=dropout_rate,
    )
