"""tinygrad.Tensor.scaled_dot_product_attention: the composite of matmul and softmax."""

from typing import Any

from tinygrad import dtypes

ARRAYS = "tinygrad"
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {"mask+bias", "mask+is_causal", "bias+is_causal"}  # there is one argument for mask and bias
FOLDED = (
    "with one key its score less the maximum is folded to 0, even if it is NaN or -inf, as in "
    "https://github.com/tinygrad/tinygrad/pull/4982"
)
KNOWN_ISSUES = {
    "zero_size": "a width of 0 gives NaN, for scores of 0 are divided by its root; unreported",
    "one_key": FOLDED,
    "rejection.heads": "of more key heads than query heads each is repeated 0 times: the output has none; unreported",
    "rejection.integers": "the scores of integers are cut to integers; unreported",
    "rejection.mask_shape": "a mask of five axes gives an output of five; unreported",
}
CONVENTIONS = {
    "empty_row": "nan",
    "masked_nonfinite": "propagates",
    "value_range": "sum",
}
CALL = "tinygrad scaled_dot_product_attention"


def attention(query: Any, key: Any, value: Any, *, mask: Any = None, bias: Any = None, is_causal: bool = False) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    Without B, or B and H, everything is without it. mask is bool (True attends), bias floating; both broadcast to
    (B, Hq, L, S). ValueError for mask and bias together and for a mask that is not bool, which tinygrad would add;
    what else is malformed is tinygrad's to find.
    Formula: Vaswani et al. 2017, equation 1.
    """
    if mask is not None and bias is not None:
        raise ValueError(f"attn_mask: wanted mask or bias, came both, in {CALL}")
    if mask is not None and mask.dtype != dtypes.bool:
        raise ValueError(f"attn_mask: wanted a mask of bool, came {mask.dtype}, in {CALL}")
    return query.scaled_dot_product_attention(
        key,
        value,
        attn_mask=mask if bias is None else bias,
        is_causal=is_causal,
        enable_gqa=query.shape[:-2] != key.shape[:-2],
    )
