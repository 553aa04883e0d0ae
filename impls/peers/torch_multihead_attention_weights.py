"""torch.nn.MultiheadAttention asked for the weights of each head, its projections being the identity.

Query, key and value are not the same tensor, so that the fast path does not apply.
"""

from typing import Any

from attnspec.impls.peers.shared import torch_multihead as shared
from attnspec.impls.peers.shared.reasons import ASSERTED, JOINED
from attnspec.impls.peers.shared.torch_amx import LEAK, LEAKS

ARRAYS = "torch"
KERNEL = "weights"
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {
    "mask+bias",  # there is one argument for the three
    "mask+is_causal",
    "bias+is_causal",
    "bias_dtype",
    "gqa",
    "value_dim",
    "rank2",
    "bias+key_lengths+compile",  # which warns that masks of two dtypes are deprecated
}
KNOWN_ISSUES = {
    **shared.REFUSALS,
    "rejection.mask_dtype": ASSERTED,
    "rejection.key_lengths": ASSERTED,
    "masking.nan_value_shows": JOINED,
    "masking.nan_bias_shows": JOINED,
    **({"masking.nan_query_shows": LEAK} if LEAKS else {}),
    **shared.SPREADS,
}
CONVENTIONS = {"mask": "block", "empty_row": "nan", "masked_nonfinite": "propagates", "value_range": "sum"}


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    bias: Any = None,
    is_causal: bool = False,
    key_lengths: Any = None,
    return_weights: bool = False,
) -> Any:
    """Attention of query (B, H, L, D) over key and value (B, H, S, D): (B, H, L, D), or all without B.

    mask is bool (True blocks), bias floating; both broadcast to (B, H, L, S). key_lengths (B,) becomes the padding
    mask; return_weights adds (B, H, L, S). ValueError for two of mask, bias and is_causal: there is one argument.
    Formula: Vaswani et al. 2017, section 3.2.2.
    """
    heads = query.shape[-3]
    output, weights = shared.identity(heads, query.shape[-1], query)(
        shared.joined(query),
        shared.joined(key),
        shared.joined(value),
        attn_mask=shared.one_mask(query, key, mask, bias, is_causal),
        key_padding_mask=shared.padding(key, key_lengths),
        need_weights=True,
        average_attn_weights=False,
        is_causal=is_causal,
    )
    output = shared.parted(output, heads)
    return (output, weights) if return_weights else output


kernels = shared.ways
