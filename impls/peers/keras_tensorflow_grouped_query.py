"""keras.layers.GroupQueryAttention on TensorFlow, its projections being the identity.

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
LACKS = {"value_dim", "rank2", "rank3"}
KNOWN_ISSUES = {
    "rejection.mask_dtype": MASK_CAST,
    "masking.nan_value_shows": JOINED,
    "purity.vectorized": BROADCAST,
    **({"masking.nan_query_shows": LEAK} if HERE else {}),
}
DOCUMENTATION = {
    "rejection.mask_dtype": documented.GROUPED["rejection.mask_dtype"],
    **documented.MAPPED,
}
CONVENTIONS = {
    "layout": "BLHD",
    "empty_row": "mean",
    "intermediate_dtype": "at-most-float32",
    "masked_nonfinite": "propagates",
}


def attention(query: Any, key: Any, value: Any, *, mask: Any = None, is_causal: bool = False) -> Any:
    """Attention of query (B, L, Hq, D) over key and value (B, S, Hkv, D): (B, L, Hq, D).

    mask is bool (True attends) and broadcasts to (B, Hq, L, S). ValueError for other than four axes.
    Formula: Vaswani et al. 2017, equation 1.
    """
    return shared.grouped_query_attention(keras, query, key, value, mask=mask, is_causal=is_causal)
