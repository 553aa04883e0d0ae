"""keras.ops.dot_product_attention on TensorFlow."""

from typing import Any

from attnspec.impls.peers.shared import keras as shared
from attnspec.impls.peers.shared import keras_documentation as documented
from attnspec.impls.peers.shared.tensorflow_amx import HERE, LEAK

keras = shared.keras_on("tensorflow")

ARRAYS = "tensorflow"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("keras",)
LACKS = {"rank2", "rank3"}
LOWEST = "what is masked gets 0.7 · finfo.min, which outweighs a visible bias of finfo.min; unreported"
KNOWN_ISSUES = {
    "contract.claims": "one key head for several query heads raises, for tf.einsum does not repeat it, as meant in "
    "https://github.com/keras-team/keras/pull/23081",
    "rejection.integers": "the result of integers is cut to integers; unreported",
    "lowest_bias+mask": LOWEST,
    "lowest_bias+is_causal": LOWEST,
    **({"masking.nan_query_shows": LEAK, "masking.nan_bias_shows": LEAK} if HERE else {}),
}
DOCUMENTATION = {
    "contract.claims": documented.ONE_KEY_HEAD,
    "lowest_bias+mask": documented.LOWEST,
}
CONVENTIONS = {
    "layout": "BLHD",
    "empty_row": "mean",
    "empty_row_bias": "nan",
    "intermediate_dtype": "at-most-float32",
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

    mask is bool (True attends), bias floating; both broadcast to (B, Hq, L, S). ValueError for other than four axes.
    Formula: Vaswani et al. 2017, equation 1.
    """
    return shared.ops_attention(keras, query, key, value, mask=mask, bias=bias, is_causal=is_causal, scale=scale)
