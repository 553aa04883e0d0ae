"""flax.linen.MultiHeadDotProductAttention, its projections being the identity."""

from typing import Any

import jax
from flax import linen

from attnspec.impls.peers import flax_linen
from attnspec.impls.peers.shared.jax_identity import identity
from attnspec.impls.peers.shared.reasons import JOINED

ARRAYS = "jax"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("flax",)
LACKS = {"gqa", "value_dim", "rank2"}
KNOWN_ISSUES = {
    **dict.fromkeys((f"rejection.{what}" for what in ("lengths", "batch", "rank")), flax_linen.ASSERTED),
    "rejection.mask_dtype": flax_linen.KNOWN_ISSUES["rejection.mask_dtype"],
    "rejection.dropout_rate": flax_linen.KNOWN_ISSUES["rejection.dropout_rate"],
    "masking.nan_value_shows": JOINED,
}
CONVENTIONS = {"layout": "BLHD", "empty_row": "mean", "masked_nonfinite": "propagates"}


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    dropout_rate: float = 0.0,
    seed: int = 0,
    return_weights: bool = False,
) -> Any:
    """Attention of query (B, L, H, D) over key and value (B, S, H, D): (B, L, H, D), or all without B.

    mask is bool (True attends) and broadcasts to (B, H, L, S). Of the weights, dropout_rate are left out, others in
    each batch and head; seed says which. return_weights adds (B, H, L, S). AssertionError for shapes that do not fit.
    Formula: Vaswani et al. 2017, section 3.2.2.
    """
    layer = linen.MultiHeadDotProductAttention(
        query.shape[-2],
        kernel_init=identity,
        use_bias=False,
        param_dtype=query.dtype,
        dropout_rate=dropout_rate,
        broadcast_dropout=False,
        deterministic=False,
    )
    random = jax.random.key(seed)
    output, made = layer.init_with_output(
        {"params": random, "dropout": random},
        *(array.reshape(*array.shape[:-2], array.shape[-2] * array.shape[-1]) for array in (query, key, value)),
        mask=mask,
        sow_weights=return_weights,
        mutable=["params", "intermediates"],
    )
    output = output.reshape(query.shape)
    return (output, made["intermediates"]["attention_weights"][0]) if return_weights else output
