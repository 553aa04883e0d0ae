"""jax.nn.dot_product_attention."""

from typing import Any

import jax
import jax.numpy as jnp

ARRAYS = "jax"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"layout": "BLHD"}


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    bias: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    window: tuple[int | None, int | None] | None = None,
    key_lengths: Any = None,
    return_lse: bool = False,
) -> Any:
    if query.ndim == 2:
        raise ValueError(f"query: wanted 3 or 4 axes, came {query.shape}, in jax.nn.dot_product_attention")
    whole = max(query.shape[-3], key.shape[-3])
    result = jax.nn.dot_product_attention(
        query,
        key,
        value,
        bias,
        mask,
        scale=scale,
        is_causal=is_causal,
        key_value_seq_lengths=None if key_lengths is None else key_lengths.reshape(-1).astype(jnp.int32),
        local_window_size=window and tuple(whole if bound is None else bound for bound in window),
        return_residual=return_lse,
    )
    return (result[0], result[1].swapaxes(-1, -2)) if return_lse else result
