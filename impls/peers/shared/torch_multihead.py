"""torch.nn.MultiheadAttention with projections that change nothing, and which of its three ways a call goes."""

from collections.abc import Callable
from typing import Any

import torch

from attnspec.impls.kernels.torch import operators
from attnspec.impls.peers.shared.reasons import ASSERTED

REFUSALS = dict.fromkeys((f"rejection.{what}" for what in ("lengths", "width", "heads", "batch", "rank")), ASSERTED)

SPREAD = (
    "a row without visible keys is NaN in one head, which the projection behind spreads to all heads: "
    "https://github.com/pytorch/pytorch/issues/160064"
)
SPREADS = dict.fromkeys(
    (
        "definition.output",
        "influence.keys",
        "influence.values",
        "masking.empty_rows",
        "purity.history",
        "softmax.hull",
        "softmax.constant_value",
        "softmax.score_shift",
        "softmax.zero_query",
    ),
    SPREAD,
)

MODULES: dict[tuple[Any, ...], torch.nn.MultiheadAttention] = {}
"""Modules by what they are made for: their weights depend on nothing else."""


def identity(heads: int, width: int, like: Any) -> Any:
    """The module for so many heads of ``width``, in the dtype of ``like``: its weights are the identity."""
    name = (heads, width, like.dtype, like.device)
    if name not in MODULES:
        module = torch.nn.MultiheadAttention(
            heads * width, heads, batch_first=True, dtype=like.dtype, device=like.device
        )
        with torch.no_grad():
            module.in_proj_weight.copy_(torch.eye(heads * width).repeat(3, 1))
            module.out_proj.weight.copy_(torch.eye(heads * width))
        MODULES[name] = module.eval().requires_grad_(False)
    return MODULES[name]


def joined(array: Any) -> Any:
    """(B, H, n, D) as (B, n, H·D), or all without B."""
    return array.transpose(-2, -3).flatten(-2)


def parted(array: Any, heads: int) -> Any:
    """(B, n, H·D) as (B, H, n, D), or all without B."""
    return array.unflatten(-1, (heads, -1)).transpose(-2, -3)


def one_mask(query: Any, key: Any, mask: Any, bias: Any, is_causal: bool) -> Any:
    """attn_mask (B·H, L, S), or (L, S) if it is causal: bool where True blocks, or floating to be added; None for none.

    ValueError for two of them.
    """
    if (mask is not None) + (bias is not None) + is_causal > 1:
        raise ValueError("attn_mask: wanted one of mask, bias and is_causal, came more, in torch MultiheadAttention")
    if mask is None and bias is None and not is_causal:
        return None
    lengths = (query.shape[-2], key.shape[-2])
    if is_causal:
        return torch.ones(lengths, dtype=torch.bool, device=query.device).triu(1)
    given = mask if bias is None else bias
    return given.expand(*query.shape[:-2], *lengths).flatten(0, -3)


def padding(key: Any, key_lengths: Any) -> Any:
    """key_padding_mask (B, S), or (S,) without B: True where a key lies past its length; None for none."""
    if key_lengths is None:
        return None
    return torch.arange(key.shape[-2], device=key.device) >= key_lengths[..., None]


def ways(call: Callable[[], Any]) -> set[str]:
    """How the module answers ``call``: by its fast path, by scaled_dot_product_attention, or by weights of its own."""
    ran = operators(call)
    fast, fused = "aten::_native_multi_head_attention" in ran, "aten::scaled_dot_product_attention" in ran
    return {"fast"} if fast else {"sdpa"} if fused else {"weights"}
