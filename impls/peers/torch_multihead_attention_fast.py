"""torch.nn.MultiheadAttention on its fast path: self-attention without gradients, in one operator.

The query, key and value of the contract are parts of the one tensor that it takes, told apart by its projections.
"""

from typing import Any

import torch
import torch.nn.functional as F

from attnspec.impls.peers.shared import torch_multihead as shared
from attnspec.impls.peers.shared.reasons import ASSERTED, JOINED

ARRAYS = "torch"
KERNEL = "fast"
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {
    "mask+is_causal",  # there is one argument for both
    "gqa",
    "value_dim",
    "mask+zero_size",
    "return_weights+zero_size",
    "rank2",
    "cross",
    "rank3",
    "gradient",
    "double_gradient",
    "forward_gradient",
}
KNOWN_ISSUES = {
    "masking.nan_value_shows": JOINED,
    "masking.nan_query_shows": "query and key are parts of one tensor, whose projections meet both; by design",
    "rejection.mask_dtype": ASSERTED,
    **shared.SPREADS,
    "purity.compiled": "a row without visible keys is NaN, but 0 where the call is traced: that goes the slow path: "
    "https://github.com/pytorch/pytorch/pull/190486",
}
CONVENTIONS = {"mask": "block", "empty_row": "nan", "masked_nonfinite": "propagates", "value_range": "sum"}


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    is_causal: bool = False,
    key_lengths: Any = None,
    return_weights: bool = False,
) -> Any:
    """Attention of query (B, H, L, D) over key and value (B, H, L, D): (B, H, L, D).

    mask is bool (True blocks) and broadcasts to (B, H, L, L); key_lengths (B,) becomes the padding mask; return_weights
    adds (B, H, L, L). ValueError for mask and is_causal together, for which there is one argument, and for arrays that
    require gradients; RuntimeError for other shapes.
    Formula: Vaswani et al. 2017, section 3.2.2.
    """
    refuse_gradients(query, key, value)
    module, one = selecting(query)
    heads, blocked = module.num_heads, shared.one_mask(query, key, mask, None, is_causal)
    if blocked is not None and blocked.ndim == 3:
        blocked = F.pad(blocked.unflatten(0, query.shape[:2]), (0, 0, 0, 0, 0, heads - query.shape[1])).flatten(0, 1)
    x = F.pad(torch.cat([*map(shared.joined, (query, key, value))], -1), (0, module.embed_dim - 3 * one))
    output, weights = module(
        x,
        x,
        x,
        attn_mask=blocked,
        key_padding_mask=shared.padding(key, key_lengths),
        need_weights=return_weights,
        average_attn_weights=False,
        is_causal=is_causal,
    )
    output = shared.parted(output[..., :one], query.shape[1])
    return (output, weights[:, : query.shape[1]]) if return_weights else output


def selecting(query: Any) -> tuple[Any, int]:
    """A module of self-attention over [query, key, value, 0], and how wide each of the three is in it.

    The fast path takes one tensor for all three and an even number of heads, so that the projections select, and a head
    may be there for nothing. Heads are four times as wide as the query's, so that the scale is half of 1/√D: the
    projection of the query doubles, which is exact.
    """
    _, heads, _, width = query.shape
    even, one = heads + heads % 2, heads * width
    name = ("selecting", heads, width, query.dtype, query.device)
    if name not in shared.MODULES:
        module = torch.nn.MultiheadAttention(even * 4 * width, even, batch_first=True, dtype=query.dtype)
        chosen = torch.zeros(even, 4 * width, even * 4 * width)
        chosen[:heads, :width, :one] = torch.eye(one).unflatten(0, (heads, width))
        chosen = chosen.flatten(0, 1)
        placed = [2 * chosen, chosen.roll(one, 1), chosen.roll(2 * one, 1)]
        with torch.no_grad():
            module.in_proj_weight.copy_(torch.cat(placed))
            module.out_proj.weight.copy_(chosen.mT)
        shared.MODULES[name] = module.eval().requires_grad_(False).to(query.device)
    return shared.MODULES[name], one


def refuse_gradients(*arrays: Any) -> None:
    """ValueError where a gradient is wanted: the fast path has none, and the module would leave it in silence."""
    if torch.is_grad_enabled() and any(array is not None and array.requires_grad for array in arrays):
        raise ValueError("requires_grad: wanted arrays without, came one with, in torch MultiheadAttention's fast path")


kernels = shared.ways
