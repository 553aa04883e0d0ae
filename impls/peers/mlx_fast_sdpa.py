"""mlx.core.fast.scaled_dot_product_attention: on the CPU the composition that MLX falls back to, on Metal a kernel."""

from typing import Any

import mlx.core as mx

ARRAYS = "mlx"
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {
    "rank2",
    "rank3",
    "mask+bias",  # there is one argument for mask, bias and is_causal
    "mask+is_causal",
    "bias+is_causal",
    "bias_dtype",
}
KNOWN_ISSUES = {
    "rejection.no_heads": "a key without heads is an integer division by 0 that ends the process; unreported",
}
CONVENTIONS = {
    "causal_alignment": "bottom-right",
    "empty_row": "mean",
    "empty_row_bias": "nan",
    "intermediate_dtype": "at-most-float32",
    "masked_nonfinite": "propagates",
}
CALL = "mlx.core.fast.scaled_dot_product_attention"


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    bias: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    sinks: Any = None,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    There is one argument for mask (bool, True attends), bias and is_causal: ValueError for two of them, and for a mask
    that is not bool, which MLX would add. Both arrays broadcast to (B, Hq, L, S); sinks (Hq,) join the softmax's
    denominator. What else is malformed is MLX's to find.
    Formula: Vaswani et al. 2017, equation 1.
    """
    given = [each for each in (mask, bias, "causal" if is_causal else None) if each is not None]
    if len(given) > 1:
        raise ValueError(f"mask: wanted one of mask, bias and is_causal, came {len(given)}, in {CALL}")
    if mask is not None and mask.dtype != mx.bool_:
        raise ValueError(f"mask: wanted a mask of bool, came {mask.dtype}, in {CALL}")
    return mx.fast.scaled_dot_product_attention(
        query,
        key,
        value,
        scale=max(query.shape[-1], 1) ** -0.5 if scale is None else scale,  # it has no default
        mask=given[0] if given else None,
        sinks=sinks,
    )
