"""torch.nn.attention.flex_attention without the compiler: PyTorch's unfused reading of the same functions."""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.attention import flex_attention as flex
from torch.nn.attention.flex_attention import AuxRequest, create_block_mask, flex_attention

from attnspec.impls.kernels.torch import flex_kernels
from attnspec.impls.peers.shared.reasons import ASSERTED
from attnspec.impls.peers.shared.torch_amx import LEAK, LEAKS

ARRAYS = "torch"
KERNEL = "unfused"
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {
    "rank2",
    "rank3",
    "zero_size",
    "gradient",  # none on the CPU
    "double_gradient",
    "forward_gradient",
    "vectorize",
}
KNOWN_ISSUES = {
    "return_lse+bias_dtype": "the log-sum-exp comes in the dtype that adding the bias gives; unreported",
    "rejection.mask_dtype": ASSERTED,
    "rejection.integers": "the result of integers is cut to integers; unreported",
    **({"masking.nan_query_shows": LEAK, "masking.nan_bias_shows": LEAK} if LEAKS else {}),
}
CONVENTIONS = {"masked_nonfinite": "propagates"}


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    bias: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    window: tuple[int | None, int | None] | None = None,
    alibi_slopes: Any = None,
    key_lengths: Any = None,
    query_segments: Any = None,
    key_segments: Any = None,
    return_lse: bool = False,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    mask is bool (True attends), bias floating; both broadcast to (B, Hq, L, S). alibi_slopes (Hq,), key_lengths (B,),
    segments (B, L) and (B, S); return_lse adds (B, Hq, L). ValueError for other than four axes.
    Formula: Dong et al., Flex Attention, 2024, section 3.
    """
    shape = (*query.shape[:-1], key.shape[-2])
    refuse(query.shape, key.shape, window, alibi_slopes, key_lengths, query_segments, key_segments)
    hiding = mask_mods(mask, is_causal, window, key_lengths, query_segments, key_segments, shape)
    returned = flex_attention(
        query,
        key,
        value,
        score_mod=score_mod(softcap, bias, alibi_slopes, shape),
        block_mask=create_block_mask(all_of(hiding), *shape, device=query.device) if hiding else None,
        scale=scale,
        enable_gqa=query.shape[1] != key.shape[1],
        return_aux=AuxRequest(lse=True) if return_lse else None,
    )
    return (returned[0], returned[1].lse) if return_lse else returned


def score_mod(softcap: float | None, bias: Any, alibi_slopes: Any, shape: tuple[int, ...]) -> Callable[..., Any] | None:
    """The function of a score and its place (b, h, i, j) that caps, then adds; None if there is nothing to do."""
    if not softcap and bias is None and alibi_slopes is None:
        return None
    added = None if bias is None else bias.expand(shape)

    def modified(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        if softcap:
            score = softcap * torch.tanh(score / softcap)
        if added is not None:
            score = score + added[b, h, i, j]
        return score if alibi_slopes is None else score - alibi_slopes[h] * (i - j).abs()

    return modified


def mask_mods(
    mask: Any,
    is_causal: bool,
    window: tuple[int | None, int | None] | None,
    key_lengths: Any,
    query_segments: Any,
    key_segments: Any,
    shape: tuple[int, ...],
) -> list[Callable[..., Any]]:
    """A function of the place (b, h, i, j) for each option that hides."""
    left, right = window or (None, None)
    shown: Any = None if mask is None else mask.expand(shape)
    mods: dict[Callable[..., Any], bool] = {
        lambda b, h, i, j: shown[b, h, i, j]: shown is not None,
        lambda b, h, i, j: j <= i: is_causal,
        lambda b, h, i, j: j >= i - left: left is not None,
        lambda b, h, i, j: j <= i + right: right is not None,
        lambda b, h, i, j: j < key_lengths[b]: key_lengths is not None,
        lambda b, h, i, j: query_segments[b, i] == key_segments[b, j]: query_segments is not None,
    }
    return [mod for mod, asked in mods.items() if asked]


def refuse(
    query: tuple[int, ...],
    key: tuple[int, ...],
    window: Any,
    alibi_slopes: Any,
    key_lengths: Any,
    query_segments: Any,
    key_segments: Any,
) -> None:
    """ValueError for what the functions would read beside: arrays of other sizes, half a pair."""
    if window is not None and not (isinstance(window, tuple) and len(window) == 2):
        raise ValueError(f"window: wanted a pair of bounds, came {window!r}, in torch flex_attention")
    if (query_segments is None) != (key_segments is None):
        raise ValueError("query_segments: wanted them with key_segments, came one alone, in torch flex_attention")
    wanted = {
        "alibi_slopes": (alibi_slopes, query[1:2]),
        "key_lengths": (key_lengths, query[:1]),
        "query_segments": (query_segments, (query[0], query[-2])),
        "key_segments": (key_segments, (key[0], key[-2])),
    }
    for name, (array, shape) in wanted.items():
        if array is not None and tuple(array.shape) != tuple(shape):
            came = tuple(array.shape)
            raise ValueError(f"{name}: wanted shape {tuple(shape)}, came {came}, in torch flex_attention")


def all_of(mods: list[Callable[..., Any]]) -> Callable[..., Any]:
    """The function that is true where all ``mods`` are."""

    def mask_mod(b: Any, h: Any, i: Any, j: Any) -> Any:
        first, *others = (mod(b, h, i, j) for mod in mods)
        for other in others:
            first = first & other
        return first

    return mask_mod


kernels = flex_kernels
flex._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True  # documented for debugging: without it every call is traced anew
