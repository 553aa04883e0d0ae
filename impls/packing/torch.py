"""Packed sequences in PyTorch: one behind the other along one axis, where each begins told by offsets, and no padding.

The offsets are the cumulative sequence lengths of flash-attention's ``flash_attn_varlen_func`` (Dao, FlashAttention-2,
2023). Shapes: T queries and S keys in all, N sequences, Hq query heads, Hkv key/value heads, D and Dv widths.
"""

from collections.abc import Callable
from typing import Any

import torch

Array = Any


def by_sequence(attention: Callable[..., Any]) -> Callable[..., Any]:
    """``attend_packed`` made of an ``attention`` of (H, L, D): sequence by sequence, which is what it means."""

    def attend_packed(
        query: Array,
        key: Array,
        value: Array,
        query_offsets: Array,
        key_offsets: Array,
        *,
        is_causal: bool = False,
        scale: float | None = None,
        window: tuple[int | None, int | None] | None = None,
        softcap: float | None = None,
        alibi_slopes: Array | None = None,
        sinks: Array | None = None,
    ) -> Array:
        """Attention of each sequence over itself: query (T, Hq, D), key (S, Hkv, D), value (S, Hkv, Dv): (T, Hq, Dv).

        query_offsets and key_offsets (N + 1), integers, rise from 0 to T and to S: sequence b has the queries from
        query_offsets[b] to before query_offsets[b + 1], and the keys likewise. The dtype is the output's. Keywords are
        those of ``attention``, with positions counted within the sequence. ValueError for malformed input.
        """
        queries, keys = check(query, key, value, query_offsets, key_offsets)
        options = {"is_causal": is_causal, "scale": scale, "window": window, "softcap": softcap}
        options |= {n: a for n, a in (("alibi_slopes", alibi_slopes), ("sinks", sinks)) if a is not None}
        sequences = zip(query.split(queries), key.split(keys), value.split(keys), strict=True)
        outputs = [attention(*(a.transpose(0, 1) for a in own), **options).transpose(0, 1) for own in sequences]
        return torch.cat([query.new_zeros(0, query.shape[1], value.shape[2]), *outputs])

    return attend_packed


def check(query: Array, key: Array, value: Array, query_offsets: Array, key_offsets: Array) -> list[list[int]]:
    """The numbers of queries and of keys of each sequence.

    Raise ValueError for what is no pack; the rest is checked by ``attention``, sequence by sequence.
    """
    for name, array in (("query", query), ("key", key), ("value", value)):
        want(array.ndim == 3, f"{name} of 3 axes, (tokens, heads, width)", tuple(array.shape))
    want(len(value) == len(key), f"as many values as keys, {len(key)}", len(value))
    lengths = []
    for name, offsets, tokens in (("query_offsets", query_offsets, query), ("key_offsets", key_offsets, key)):
        integral = not (offsets.is_floating_point() or offsets.is_complex() or offsets.dtype == torch.bool)
        came = f"{offsets.dtype}{tuple(offsets.shape)}"
        want(offsets.ndim == 1 and offsets.numel() > 0 and integral, f"{name} (N + 1), integers", came)
        steps = offsets.diff().tolist()
        rising = min(steps, default=0) >= 0 and offsets[0] == 0 and offsets[-1] == len(tokens)
        want(bool(rising), f"{name} rising from 0 to {len(tokens)}", offsets.tolist())
        lengths.append(steps)
    want(len(lengths[0]) == len(lengths[1]), f"key_offsets ({len(query_offsets)})", tuple(key_offsets.shape))
    return lengths


def want(good: bool, wanted: str, came: object) -> None:
    """ValueError that says what was wanted and what came."""
    if not good:
        raise ValueError(f"attend_packed: wanted {wanted}, came {came}")
