"""jax.experimental.pallas.ops.gpu.attention.mha, the flash kernel in Pallas for Triton, interpreted on the CPU."""

from typing import Any

from jax.experimental.pallas.ops.gpu import attention as pallas

from attnspec.impls import jax_dot_product_attention

ARRAYS = "jax"
DTYPES = ("float32", "float16", "bfloat16")
DEVICES = ("cpu",)
LACKS = {
    "is_causal",  # with 64-bit types on: its lax.div meets an int32 and an int64
    "gqa",
    "value_dim",
    "rank2",
    "rank3",
    "zero_size",
    "double_gradient",
    "forward_gradient",
    "return_lse+gradient",
}
KNOWN_ISSUES = {"range.extreme_scores": jax_dot_product_attention.KNOWN_ISSUES["range.extreme_scores"]}
CONVENTIONS = {"layout": "BLHD", "masked_nonfinite": "propagates", "lse_base": 2, "value_range": "sum"}


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    return_lse: bool = False,
) -> Any:
    """Attention of query (B, L, H, D) over key and value (B, S, H, D): (B, L, H, D).

    return_lse adds (B, H, L), in float32 and base 2. ValueError for keys or values of other heads than the query's,
    for which the kernel would read past the end.
    Algorithm: Dao, FlashAttention-2, 2023, algorithm 1.
    """
    if key.shape != value.shape or (query.shape[0], *query.shape[2:]) != (key.shape[0], *key.shape[2:]):
        shapes = ", ".join(str(array.shape) for array in (query, key, value))
        raise ValueError(f"key: wanted the query's axes but for its length, as in value, came {shapes}, in pallas mha")
    parts = next((n for n in (2, 3) if query.shape[1] % n == 0 == key.shape[1] % n), 1)
    rows, columns = max(1, query.shape[1] // parts), max(1, key.shape[1] // parts)
    result = pallas.mha(
        query,
        key,
        value,
        segment_ids=None,
        sm_scale=query.shape[-1] ** -0.5 if scale is None else scale,
        causal=is_causal,
        block_sizes=pallas.BlockSizes(rows, columns, rows, columns, rows, columns),
        interpret=True,
        return_residuals=return_lse,
    )
    return tuple(result) if return_lse else result
