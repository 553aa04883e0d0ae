"""jax.nn.dot_product_attention with the implementation that JAX picks, which is XLA's on every device."""

from typing import Any

import jax
import jax.numpy as jnp

ARRAYS = "jax"
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {
    "value_dim",
    "rank2",
    "cpu+compile+float16",  # XLA has no F16_F16_F32 product there
    "cpu+gradient+float16",
    "cpu+double_gradient+float16",
    "cpu+forward_gradient+float16",
    "cpu+vectorize+float16",
}
LOWEST = "what is masked gets 0.7 · finfo.min, which outweighs a visible bias of finfo.min; unreported"
KNOWN_ISSUES = {
    "derivative.lse": "the log-sum-exp is passed through stop_gradient, so that its gradient is 0; unreported",
    "range.extreme_scores": "compiled, equal scores of -1e30 from one feature give NaN: XLA subtracts the maximum from "
    "products that it has not rounded: https://github.com/openxla/xla/pull/44738",
    "rejection.mask_shape": "a mask or bias whose heads or batch do not fit meets a bare assert; unreported",
    "rejection.integers": "the result of integers is cut to integers; unreported",
    "lowest_bias+mask": LOWEST,
    "lowest_bias+is_causal": LOWEST,
    "lowest_bias+window": LOWEST,
    "lowest_bias+key_lengths": LOWEST,
    "return_lse+float16": "the log-sum-exp comes in half precision, rounded from float32; unreported",
    "return_lse+bfloat16": "the log-sum-exp comes in half precision, rounded from float32; unreported",
}
PAGE = "https://docs.jax.dev/en/latest/_autosummary/jax.nn.dot_product_attention.html"
DOCUMENTATION = {
    "lowest_bias+mask": (
        "mask: optional, mask array used to filter out logits. It is a boolean mask where `True` indicates the element "
        "should take part in attention.",
        PAGE,
    ),
    "lowest_bias+is_causal": (
        "If true, causal attention will be applied. Note, some implementations like `xla` will generate a mask tensor "
        "and apply it to the logits to mask out the non-causal parts of the attention matrix",
        PAGE,
    ),
    "lowest_bias+window": (
        "E.g., if local_window_size == (3, 2) and the sequence is [0, 1, 2, 3, 4, 5, c, 7, 8, 9], token `c` can attend "
        "to [3, 4, 5, c, 7, 8].",
        PAGE,
    ),
}
CONVENTIONS = {
    "layout": "BLHD",
    "empty_row": "mean",
    "empty_row_bias": "nan",
    "empty_row_lse": "lowest",
    "intermediate_dtype": "at-most-float32",  # float64 too: its softmax is always float32
    "masked_nonfinite": "propagates",
    "value_range": "sum",  # compiled; op by op any finite value will do
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
    window: tuple[int | None, int | None] | None = None,
    key_lengths: Any = None,
    return_lse: bool = False,
) -> Any:
    """Attention of query (B, L, Hq, D) over key (B, S, Hkv, D) and value (B, S, Hkv, D): (B, L, Hq, D).

    Or all without B. mask is bool (True attends), bias floating; both broadcast to (B, Hq, L, S). window (left, right)
    reaches so many keys back and ahead, None is open; key_lengths (B) are integers; return_lse adds (B, Hq, L).
    ValueError for malformed input, and for two axes, which JAX would read as (H, D).
    Formula: Vaswani et al. 2017, equation 1.
    """
    if query.ndim < 3:
        raise ValueError(f"query: wanted 3 or 4 axes, came {query.shape}, in jax.nn.dot_product_attention")
    far = max(query.shape[-3], key.shape[-3])
    result = jax.nn.dot_product_attention(
        query,
        key,
        value,
        bias,
        mask,
        scale=scale,
        is_causal=is_causal,
        key_value_seq_lengths=None if key_lengths is None else key_lengths.reshape(-1).astype(jnp.int32),
        local_window_size=None if window is None else tuple(far if bound is None else bound for bound in window),
        return_residual=return_lse,
    )
    return (result[0], result[1].swapaxes(-1, -2)) if return_lse else result  # (B, L, Hq) to (B, Hq, L)
