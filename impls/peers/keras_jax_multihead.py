"""keras.layers.MultiHeadAttention on JAX, its projections being the identity.

It is called without its weights: keras.ops.dot_product_attention.
"""

from typing import Any

from attnspec.impls import jax_dot_product_attention as fast
from attnspec.impls.peers.shared import keras as shared
from attnspec.impls.peers.shared import keras_documentation as documented
from attnspec.impls.peers.shared.reasons import JOINED, MASK_CAST

keras = shared.keras_on("jax")

ARRAYS = "jax"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("keras",)
LACKS = {"gqa", "value_dim", "rank2", "rank3", *(lack for lack in fast.LACKS if "float16" in lack)}
KNOWN_ISSUES = {
    "rejection.mask_dtype": MASK_CAST,
    "masking.nan_value_shows": JOINED,
}
DOCUMENTATION = documented.MULTIHEAD
CONVENTIONS = {
    "layout": "BLHD",
    "empty_row": "mean",
    "intermediate_dtype": "at-most-float32",
    "masked_nonfinite": "propagates",
    "value_range": "sum",
}


def attention(query: Any, key: Any, value: Any, *, mask: Any = None, is_causal: bool = False) -> Any:
    """Attention of query (B, L, H, D) over key (B, S, H, D) and value (B, S, H, D): (B, L, H, D).

    mask is bool (True attends) and broadcasts to (B, H, L, S).
    ValueError or IndexError for other than four axes.
    Formula: Vaswani et al. 2017, equation 1.
    """
    return shared.multihead_attention(keras, query, key, value, mask=mask, is_causal=is_causal)
