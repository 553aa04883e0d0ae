"""keras.ops.dot_product_attention on JAX."""

from typing import Any

from attnspec.impls import jax_dot_product_attention as fast
from attnspec.impls.peers.shared import keras as shared
from attnspec.impls.peers.shared import keras_documentation as documented
from attnspec.impls.peers.shared.reasons import MASK_CAST, ONE_KEY_REPEATED

keras = shared.keras_on("jax")

ARRAYS = "jax"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("keras",)
LACKS = {"value_dim", "rank2", "rank3", *(lack for lack in fast.LACKS if "float16" in lack)}
KNOWN_ISSUES = {
    "float64": "the result is float32; unreported",
    "range.extreme_scores": fast.KNOWN_ISSUES["range.extreme_scores"],
    "rejection.lengths": ONE_KEY_REPEATED,
    "rejection.mask_dtype": MASK_CAST,
    "rejection.mask_shape": fast.KNOWN_ISSUES["rejection.mask_shape"],
    "rejection.integers": fast.KNOWN_ISSUES["rejection.integers"],
    "lowest_bias+mask": fast.LOWEST,
    "lowest_bias+is_causal": fast.LOWEST,
}
DOCUMENTATION = {**documented.OPS, "lowest_bias+mask": documented.LOWEST}
CONVENTIONS = {
    "layout": "BLHD",
    "empty_row": "mean",
    "empty_row_bias": "nan",
    "intermediate_dtype": "at-most-float32",
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
    """Attention of query (B, L, Hq, D) over key and value (B, S, Hkv, D): (B, L, Hq, D).

    mask is bool (True attends), bias floating; both broadcast to (B, Hq, L, S). ValueError for other than four axes.
    Formula: Vaswani et al. 2017, equation 1.
    """
    return shared.ops_attention(keras, query, key, value, mask=mask, bias=bias, is_causal=is_causal, scale=scale)
