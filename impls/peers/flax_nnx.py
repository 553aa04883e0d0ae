"""flax.nnx.dot_product_attention: jax.nn.dot_product_attention, but with dropout products and a softmax of Flax."""

from typing import Any

import jax
from flax import nnx

from attnspec.impls import jax_dot_product_attention as fast

ARRAYS = "jax"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("flax",)
LACKS = {"rank2", "value_dim", *(lack for lack in fast.LACKS if "float16" in lack)}
KNOWN_ISSUES = {
    "rejection.mask_shape": fast.KNOWN_ISSUES["rejection.mask_shape"],
    "rejection.mask_dtype": "a mask of 0 and -inf is read as booleans, which shows what it should hide; unreported",
    "rejection.dropout_rate": "a rate below 0 is taken for 0, one of 1 gives NaN and one above gives 0: "
    "https://github.com/google/flax/issues/5497",
    "lowest_bias+mask": fast.LOWEST,
    "lowest_bias+is_causal": fast.LOWEST,
}
PAGE = "https://flax.readthedocs.io/en/stable/api_reference/flax.nnx/nn/attention.html"
DOCUMENTATION = {
    "lowest_bias+mask": (
        "Attention weights are masked out if their corresponding mask value is `False`.",
        PAGE,
    ),
    "lowest_bias+is_causal": (
        "If true, causal attention will be applied. Note, some implementations like xla will generate a mask tensor "
        "and apply it to the logits to mask out the non-causal parts of the attention matrix",
        PAGE,
    ),
}
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
    dropout_rate: float = 0.0,
    seed: int = 0,
) -> Any:
    """Attention of query (B, L, Hq, D) over key (B, S, Hkv, D) and value (B, S, Hkv, Dv): (B, L, Hq, Dv).

    Or all without B. mask is bool (True attends), bias floating; both broadcast to (B, Hq, L, S). Of the weights,
    dropout_rate are left out, others in each batch and head; seed says which.
    Formula: Vaswani et al. 2017, equation 1.
    """
    return nnx.dot_product_attention(
        query,
        key,
        value,
        bias,
        mask,
        broadcast_dropout=False,
        dropout_rng=jax.random.key(seed),
        dropout_rate=dropout_rate,
        is_causal=is_causal,
    )
