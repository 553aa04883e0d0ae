"""flax.nnx.MultiHeadAttention, its projections being the identity.

Without weights and dropout the heads meet in jax.nn.dot_product_attention, else in products and a softmax of Flax.
"""

from typing import Any

from flax import nnx

from attnspec.impls import jax_dot_product_attention as fast
from attnspec.impls.peers import flax_nnx
from attnspec.impls.peers.shared.jax_identity import identity
from attnspec.impls.peers.shared.reasons import JOINED

ARRAYS = "jax"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("flax",)
LACKS = {"rank2", "value_dim", *(lack for lack in fast.LACKS if "float16" in lack)}
KNOWN_ISSUES = {
    "is_causal+mask+return_weights": "the causal mask is broadcast to the shape of the given one, which raises where "
    "that has one query for all; unreported",
    "rejection.mask_shape": flax_nnx.KNOWN_ISSUES["rejection.mask_shape"],
    "rejection.mask_dtype": flax_nnx.KNOWN_ISSUES["rejection.mask_dtype"],
    "rejection.dropout_rate": flax_nnx.KNOWN_ISSUES["rejection.dropout_rate"],
    "masking.nan_value_shows": JOINED,
}
DOCUMENTATION = {
    "is_causal+mask+return_weights": (
        "mask: mask for the attention weights. This should be broadcastable to the shape `[batch..., num_heads, "
        "q_length, kv_length]`.",
        flax_nnx.PAGE,
    ),
}
CONVENTIONS = {
    "layout": "BLHD",
    "empty_row": "mean",
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
    is_causal: bool = False,
    dropout_rate: float = 0.0,
    seed: int = 0,
    return_weights: bool = False,
) -> Any:
    """Attention of query (B, L, Hq, D) over key and value (B, S, Hkv, D): (B, L, Hq, D), or all without B.

    mask is bool (True attends) and broadcasts to (B, Hq, L, S). Of the weights, dropout_rate are left out, others in
    each batch and head; seed says which. return_weights adds (B, Hq, L, S). ValueError for shapes that do not fit.
    Formula: Vaswani et al. 2017, section 3.2.2.
    """
    layer = nnx.MultiHeadAttention(
        query.shape[-2],
        query.shape[-2] * query.shape[-1],
        in_kv_features=key.shape[-2] * query.shape[-1],
        num_kv_heads=key.shape[-2],
        param_dtype=query.dtype,
        kernel_init=identity,
        use_bias=False,
        dropout_rate=dropout_rate,
        broadcast_dropout=False,
        deterministic=False,
        decode=False,
        rngs=nnx.Rngs(seed),
    )
    output = layer(
        *(array.reshape(*array.shape[:-2], array.shape[-2] * array.shape[-1]) for array in (query, key, value)),
        mask=mask,
        is_causal=is_causal,
        sow_weights=return_weights,
    )
    output = output.reshape(query.shape)
    return (output, nnx.pop(layer, nnx.Intermediate)["attention_weights"][0]) if return_weights else output
