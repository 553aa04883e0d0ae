"""keras.layers.MultiHeadAttention on TensorFlow, its projections being the identity.

It is called without its weights: keras.ops.dot_product_attention.
"""

from typing import Any

from attnspec.impls.peers.shared import keras as shared
from attnspec.impls.peers.shared import keras_documentation as documented
from attnspec.impls.peers.shared.reasons import BROADCAST, JOINED, MASK_CAST
from attnspec.impls.peers.shared.tensorflow_amx import HERE, LEAK

keras = shared.keras_on("tensorflow")

ARRAYS = "tensorflow"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("keras",)
LACKS = {"gqa", "rank2", "rank3", "zero_size"}
KNOWN_ISSUES = {
    "rejection.mask_dtype": MASK_CAST,
    "masking.nan_value_shows": JOINED,
    "purity.vectorized": BROADCAST,
    **({"masking.nan_query_shows": LEAK} if HERE else {}),
}
DOCUMENTATION = {**documented.MULTIHEAD, **documented.MAPPED}
CONVENTIONS = {
    "layout": "BLHD",
    "empty_row": "mean",
    "intermediate_dtype": "at-most-float32",
    "masked_nonfinite": "propagates",
}


def attention(query: Any, key: Any, value: Any, *, mask: Any = None, is_causal: bool = False) -> Any:
    """Attention of query (B, L, H, D) over key (B, S, H, D) and value (B, S, H, Dv): (B, L, H, Dv).

    mask is bool (True attends) and broadcasts to (B, H, L, S). ValueError for other than four axes.
    Formula: Vaswani et al. 2017, equation 1.
    """
    return shared.multihead_attention(keras, query, key, value, mask=mask, is_causal=is_causal)
