"""mlx.nn.MultiHeadAttention with projections that change nothing."""

import functools
from typing import Any

import mlx.core as mx
import mlx.nn

from attnspec.impls.peers.shared.reasons import JOINED

ARRAYS = "mlx"
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {"gqa", "rank2", "rank3", "zero_size", "mask+bias", "bias_dtype"}  # there is one argument for mask and bias
KNOWN_ISSUES = dict.fromkeys(("masking.nan_value_shows", "masking.nan_bias_shows", "masking.bias_is_mask"), JOINED)
CONVENTIONS = {
    "layout": "BLHD",
    "empty_row": "mean",
    "empty_row_bias": "nan",
    "intermediate_dtype": "at-most-float32",
    "masked_nonfinite": "propagates",
}
CALL = "mlx.nn.MultiHeadAttention"


def attention(query: Any, key: Any, value: Any, *, mask: Any = None, bias: Any = None) -> Any:
    """Attention of query (B, L, H, D) over key (B, S, H, D) and value (B, S, H, Dv): (B, L, H, Dv).

    mask is bool (True attends) and bias floating; both broadcast to (B, H, L, S). ValueError for both together, for a
    mask that is not bool, which MLX would add, and for other heads in key and value, which it would cut anew.
    Formula: Vaswani et al. 2017, section 3.2.2.
    """
    if mask is not None and bias is not None:
        raise ValueError(f"mask: wanted mask or bias, came both, in {CALL}")
    if mask is not None and mask.dtype != mx.bool_:
        raise ValueError(f"mask: wanted a mask of bool, came {mask.dtype}, in {CALL}")
    heads, width = query.shape[-2:]
    if {key.shape[-2], value.shape[-2]} != {heads}:
        raise ValueError(f"key: wanted {heads} heads, came {key.shape[-2]} and {value.shape[-2]}, in {CALL}")
    layer = _layer(heads, width, value.shape[-1], query.dtype)
    output = layer(*(mx.flatten(array, -2, -1) for array in (query, key, value)), mask=bias if mask is None else mask)
    return mx.unflatten(output, -1, (heads, -1))


@functools.lru_cache(maxsize=64)
def _layer(heads: int, width: int, value_width: int, dtype: Any) -> Any:
    """A layer whose projections are all the identity."""
    outer = heads * value_width
    layer = mlx.nn.MultiHeadAttention(
        heads * width, heads, value_input_dims=outer, value_dims=outer, value_output_dims=outer
    )
    for projection in (layer.query_proj, layer.key_proj, layer.value_proj, layer.out_proj):
        projection.weight = mx.eye(projection.weight.shape[0], dtype=dtype)
        mx.eval(projection.weight)
    return layer
